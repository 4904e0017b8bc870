from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from aegis_sdk.cli.control_report import control_report, control_warnings
from aegis_sdk.cli.extras import provider, with_extra
from aegis_sdk.cli.failing import InputError
from aegis_sdk.cli.files import validated
from aegis_sdk.cli.options import DelimiterOption, JsonOption, MemoryOption, PlanOption, TableArgument, delimiter_of
from aegis_sdk.cli.saying import print_json, progress_bar, say, warn

if TYPE_CHECKING:
    from aegis_sdk.provider import Controlled, Controls


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
    part = provider()
    controls = _controls(part, min_cell, round_to, epsilon, split)
    intended = part.load_plan(plan)
    part.refuse_overwriting(output, table, *intended.files)
    _refuse_plan_output(part, plan_output, controls, output, (table, *intended.files))
    say(f"counting {part.shown(table)} ...")
    reading = {"delimiter": delimiter_of(delimiter), "memory_limit": memory_limit}
    with progress_bar("counting") as progress:
        entry = part.summarize(table, intended, name=name, pairs=pairs, progress=progress, **reading)
    with progress_bar("controlling counts") as progress:
        roles = part.Roles(intended.quasi_identifiers, intended.sensitive)
        controlled = part.control_entry(entry, controls, roles, progress=progress)
    controlled = part.with_suppressed(controlled, table, intended, **reading)
    validated(plan, controlled.entry)
    published = part.without_disclosing_suppressed(controlled)
    with part.written_whole(output) as whole:
        part.write_entry(published.entry, whole)
        if plan_output is not None:
            part.write_controlled_plan(plan, intended, controlled, plan_output)
    result = _warned(part, published, plan_written=plan_output is not None)
    _report(output, published, result, plan_output, as_json=as_json)


def _controls(
    part: ModuleType,
    min_cell: int | None,
    round_to: int | None,
    epsilon: float | None,
    split: Literal["equal", "cube_root"] | None,
) -> "Controls":
    """What is asked for. Raises `InputError`, and `AegisError` where noise is and its library is not installed."""
    if split is not None and epsilon is None:
        raise InputError("--split says how epsilon is split; give --epsilon too")
    controls: Controls = part.Controls(min_cell, round_to, epsilon, split or "equal")
    if epsilon is not None:
        with_extra("noise", "aegis_sdk.provider.control.noise")
    return controls


def _refuse_plan_output(
    part: ModuleType, plan_output: Path | None, controls: "Controls", output: Path, inputs: tuple[str | Path, ...]
) -> None:
    if plan_output is None:
        return
    if controls.min_cell is None:
        raise InputError("--plan-output writes the plan that --min-cell changes; give --min-cell too")
    if plan_output.resolve() == output.resolve():
        raise InputError(f"{plan_output}: is to be the entry and the plan; choose another output for one of them")
    part.refuse_overwriting(plan_output, *inputs)


def _warned(part: ModuleType, controlled: "Controlled", *, plan_written: bool) -> dict[str, Any]:
    """Says what the entry gives away that its provider may not expect, and returns it for programs."""
    entry = controlled.entry
    revealing = part.revealing_attributes(entry)
    for attribute in revealing:
        warn(f"{attribute!r} is nearly unique, and the entry lists each of its values")
    below_k = part.counted_though_suppressed(entry)
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
    small = part.small_counts(entry)
    return {**found, "small_counts": {"below": part.SMALL, "counts": small.counts, "smallest": small.smallest}}


def _report(
    output: Path, controlled: "Controlled", result: dict[str, Any], plan_output: Path | None, *, as_json: bool
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
