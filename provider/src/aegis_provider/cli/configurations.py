from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from aegis_provider.output import refuse_overwriting
from aegis_provider.plan.file import load_plan
from aegis_provider.plan.output import write_plan
from aegis_provider.search import Found, Requirement, find_configurations
from aegis_provider.table import table_name
from aegis_sdk.cli.options import (
    DelimiterOption,
    JsonOption,
    MemoryOption,
    PlanOption,
    RequireOption,
    TableArgument,
    delimiter_of,
    requirements_of,
)
from aegis_sdk.cli.terminal import aligned, print_json, progress_bar, say

_SHOWN = 10


def configurations(
    table: TableArgument,
    plan: PlanOption,
    output: Annotated[Path, typer.Option(help="The plan again, with the configurations that are found.")],
    require: RequireOption = None,
    suppress_at_most: Annotated[
        float, typer.Option(metavar="SHARE", help="Of the records, those in classes that break what is required.")
    ] = 0.0,
    most: Annotated[int, typer.Option(min=1, help="How many configurations to keep; the rest tell less.")] = 1000,
    delimiter: DelimiterOption = ",",
    memory_limit: MemoryOption = "1GB",
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Find the configurations that hold what is required. None of them masks more than that takes."""
    intended = load_plan(plan, configurations_needed=False)
    refuse_overwriting(output, table, *intended.files)
    requirement = Requirement(requirements_of(require), suppress_at_most)
    say(f"reading {table_name(table)} ...")
    with progress_bar("searching the combinations of maskings") as progress:
        found = find_configurations(
            table,
            intended,
            requirement,
            most=most,
            delimiter=delimiter_of(delimiter),
            memory_limit=memory_limit,
            progress=progress,
        )
    write_plan(plan, intended, found.configurations, output, _remark(found, requirement.described()))
    fixed = {each.name: each.kept_as for each in intended.attributes if each.name not in intended.quasi_identifiers}
    if as_json:
        print_json({"output": str(output), "not_searched": fixed, **_result(found)})
    else:
        typer.echo("\n".join([*_report(output, found), *_not_searched(fixed)]))


def _not_searched(fixed: dict[str, str]) -> Iterator[str]:
    """What every configuration does with the attributes that are no quasi-identifiers."""
    if fixed:
        chosen = ", ".join(f"{name}: {choice}" for name, choice in fixed.items())
        yield ""
        yield f"no quasi-identifiers, and the same in every configuration (`default` in the plan): {chosen}"


def _remark(found: Found, required: str) -> str:
    return f"Found by `aegis configurations`, {required}: {_extent(found)}."


def _extent(found: Found) -> str:
    kept = len(found.configurations)
    if not found.complete:
        return f"{_counted(kept)}, found at random; there may be more"
    if kept < found.minimal:
        return f"{kept:,} of {_counted(found.minimal)}"
    return f"all {_counted(kept)}" if kept > 1 else "the only minimal one"


def _counted(minimal: int) -> str:
    return f"{minimal:,} minimal one{'s' * (minimal != 1)}"


def _result(found: Found) -> dict[str, Any]:
    pairs = zip(found.configurations, found.information, strict=True)
    return {
        "records": found.records,
        "combinations": found.nodes,
        "evaluated": found.evaluated,
        "minimal": found.minimal,
        "complete": found.complete,
        "configurations": [
            {
                "id": each.id,
                "maskings": dict(each.maskings),
                "privacy": dict(each.privacy),
                "suppressed": each.suppressed or 0,
                "information": information,
            }
            for each, information in pairs
        ],
    }


def _report(output: Path, found: Found) -> Iterator[str]:
    yield f"{output}: {_extent(found)}"
    yield f"{found.nodes:,} combinations of maskings, {found.evaluated:,} of them evaluated; {found.records:,} records"
    names = list(found.configurations[0].privacy)
    rows = [
        (each.id, *(each.privacy[name] for name in names), each.suppressed or 0, f"{information:.1%}")
        for each, information in list(zip(found.configurations, found.information, strict=True))[:_SHOWN]
    ]
    yield ""
    yield from aligned(("configuration", *names, "suppressed", "information kept"), rows)
    if len(found.configurations) > _SHOWN:
        yield f"  and {len(found.configurations) - _SHOWN:,} more"
