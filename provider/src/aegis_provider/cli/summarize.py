from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from aegis_provider.cli.control_report import control_report, control_warnings
from aegis_provider.control import (
    SMALL,
    Controlled,
    Controls,
    Roles,
    control_entry,
    small_counts,
    with_suppressed,
    write_controlled_plan,
)
from aegis_provider.entry_file import write_entry
from aegis_provider.extras import needs_extra
from aegis_provider.output import refuse_overwriting
from aegis_provider.plan.file import load_plan
from aegis_provider.revealing import counted_though_suppressed, revealing_attributes
from aegis_provider.summary import summarize as summarize_table
from aegis_provider.table import table_name
from aegis_sdk.cli.entry_files import validated
from aegis_sdk.cli.failures import InputError
from aegis_sdk.cli.options import DelimiterOption, JsonOption, MemoryOption, PlanOption, TableArgument, delimiter_of
from aegis_sdk.cli.terminal import print_json, progress_bar, say, warn


def summarize(
    table: TableArgument,
    plan: PlanOption,
    name: Annotated[str, typer.Option(help="Name of the entry: a-z 0-9 - _ .")],
    output: Annotated[Path, typer.Option(help="The entry (JSON), to be read before it is published.")],
    delimiter: DelimiterOption = ",",
    memory_limit: MemoryOption = "1GB",
    pairs: Annotated[bool, typer.Option("--pairs", help="Count pairs of attributes too, for `joint`.")] = False,  # noqa: FBT002 - a flag
    min_cell: Annotated[
        int | None, typer.Option(metavar="N", help="Merge masked values until no count but 0 is below this.")
    ] = None,
    round_to: Annotated[
        int | None, typer.Option(metavar="BASE", help="Round every count at random to a multiple of this.")
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option(metavar="E", help="Add noise to every count: differential privacy of all tables.")
    ] = None,
    split: Annotated[
        Literal["equal", "cube_root"] | None,
        typer.Option(help="Of epsilon over the tables; `cube_root` of their cells makes the noise least.  [equal]"),
    ] = None,
    plan_output: Annotated[
        Path | None, typer.Option(help="The plan that goes with the entry once --min-cell has changed it.")
    ] = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Count a table as its plan says and write the catalogue entry. Nothing is sent anywhere."""
    controls = _controls(min_cell, round_to, epsilon, split)
    intended = load_plan(plan)
    refuse_overwriting(output, table, *intended.files)
    _refuse_plan_output(plan_output, controls, output, (table, *intended.files))
    say(f"counting {table_name(table)} ...")
    reading = {"delimiter": delimiter_of(delimiter), "memory_limit": memory_limit}
    with progress_bar("counting") as progress:
        entry = summarize_table(table, intended, name=name, pairs=pairs, progress=progress, **reading)
    with progress_bar("controlling counts") as progress:
        roles = Roles(intended.quasi_identifiers, intended.sensitive)
        controlled = control_entry(entry, controls, roles, progress=progress)
    controlled = with_suppressed(controlled, table, intended, **reading)
    validated(plan, controlled.entry)

    def write_plan() -> None:
        if plan_output is not None:
            write_controlled_plan(plan, intended, controlled, plan_output)

    write_entry(controlled.entry, output, write_plan)
    result = _warned(controlled, plan_written=plan_output is not None)
    _report(output, controlled, result, plan_output, as_json=as_json)


def _controls(
    min_cell: int | None,
    round_to: int | None,
    epsilon: float | None,
    split: Literal["equal", "cube_root"] | None,
) -> Controls:
    """What is asked for. Raises `InputError`, and `AegisError` where noise is and its library is not installed."""
    if split is not None and epsilon is None:
        raise InputError("--split says how epsilon is split; give --epsilon too")
    controls = Controls(min_cell, round_to, epsilon, split or "equal")
    if epsilon is not None:
        with needs_extra("noise"):
            import opendp  # noqa: F401, PLC0415 - an extra
    return controls


def _refuse_plan_output(
    plan_output: Path | None, controls: Controls, output: Path, inputs: tuple[str | Path, ...]
) -> None:
    if plan_output is None:
        return
    if controls.min_cell is None:
        raise InputError("--plan-output writes the plan that --min-cell changes; give --min-cell too")
    if plan_output.resolve() == output.resolve():
        raise InputError(f"{plan_output}: is to be the entry and the plan; choose another output for one of them")
    refuse_overwriting(plan_output, *inputs)


def _warned(controlled: Controlled, *, plan_written: bool) -> dict[str, Any]:
    """Says what the entry gives away that its provider may not expect, and returns it for programs."""
    entry = controlled.entry
    revealing = revealing_attributes(entry)
    for attribute in revealing:
        warn(f"{attribute!r} is nearly unique, and the entry lists each of its values")
    below_k = counted_though_suppressed(entry)
    if below_k:
        warn(
            f"{below_k} masked values, or pairs of them, have fewer records than the k of a release that "
            "leaves these out; the entry counts them all the same"
        )
    for warning in control_warnings(controlled, plan_written=plan_written):
        warn(warning)
    found = {"nearly_unique": revealing, "below_k": below_k}
    if controlled.controls:
        return {**found, "controls": {**controlled.controls.declared(), **controlled.changes.listed()}}
    small = small_counts(entry)
    return {**found, "small_counts": {"below": SMALL, "counts": small.counts, "smallest": small.smallest}}


def _report(
    output: Path, controlled: Controlled, result: dict[str, Any], plan_output: Path | None, *, as_json: bool
) -> None:
    entry, tables = controlled.entry, len(controlled.entry.get("pairs", ()))
    configurations = len(entry["configurations"])
    small = result.get("small_counts", {"counts": 0})
    if small["counts"]:
        warn(
            f"{small['counts']} counts are below {small['below']}, the smallest {small['smallest']}: "
            f"`aegis disclose {output}` says what they give away, --min-cell merges them"
        )
    if as_json:
        found = {"records": entry["records"], "configurations": configurations, "pairs": tables}
        written = {} if plan_output is None else {"plan": str(plan_output)}
        print_json({"output": str(output), **written, **found, **result})
        return
    counted = f", {tables} tables of pairs" if "pairs" in entry else ""
    say(f"{output}: {entry['records']} records, {configurations} configurations{counted}")
    for line in control_report(controlled):
        typer.echo(line)
