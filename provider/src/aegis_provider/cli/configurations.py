from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from aegis_provider.cli.options import DelimiterOption, MemoryOption, PlanOption, TableArgument
from aegis_provider.output import refuse_overwriting
from aegis_provider.plan.reading import load_plan
from aegis_provider.plan.writing import write_plan
from aegis_provider.search import Requirement, SearchResult, find_configurations
from aegis_provider.table import table_name
from aegis_sdk.cli.options import JsonOption, RequireOption, requirements_of
from aegis_sdk.cli.terminal import aligned, print_result, progress_bar, say

_SHOWN = 10


def configurations(
    table: TableArgument,
    plan: PlanOption,
    output: Annotated[Path, typer.Option(help="A copy of the plan, with the configurations found.")],
    require: RequireOption = None,
    suppress_at_most: Annotated[
        float,
        typer.Option(
            metavar="SHARE", help="Suppress at most this share of records: those in classes that break a requirement."
        ),
    ] = 0.0,
    most: Annotated[
        int, typer.Option(min=1, help="How many configurations to keep, the most informative first.")
    ] = 1000,
    delimiter: DelimiterOption = ",",
    memory_limit: MemoryOption = "1GB",
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Find the configurations that meet the requirements. None of them masks more than necessary."""
    intended = load_plan(plan, configurations_needed=False)
    refuse_overwriting(output, table, *intended.files)
    requirement = Requirement(requirements_of(require), suppress_at_most)
    say(f"reading {table_name(table)} ...")
    with progress_bar("searching the combinations of maskings") as progress:
        result = find_configurations(
            table,
            intended,
            requirement,
            most=most,
            delimiter=delimiter,
            memory_limit=memory_limit,
            progress=progress,
        )
    write_plan(plan, intended, result.configurations, output, _remark(result, requirement.described()))
    fixed = {each.name: each.kept_as for each in intended.attributes if each.name not in intended.quasi_identifiers}
    document = {"output": str(output), "not_searched": fixed, **_document(result)}
    print_result(document, [*_report(output, result), *_not_searched(fixed)], as_json=as_json)


def _not_searched(fixed: dict[str, str]) -> Iterator[str]:
    """Say how every configuration masks the attributes that are not quasi-identifiers."""
    if fixed:
        chosen = ", ".join(f"{name}: {choice}" for name, choice in fixed.items())
        yield ""
        yield f"not quasi-identifiers, so the same in every configuration (`default` in the plan): {chosen}"


def _remark(result: SearchResult, required: str) -> str:
    return f"Found by `aegis configurations`, {required}: {_extent(result)}."


def _extent(result: SearchResult) -> str:
    kept = len(result.configurations)
    if not result.complete:
        return f"{_counted(kept)}, found at random; there may be more"
    if kept < result.minimal:
        return f"{kept:,} of {_counted(result.minimal)}"
    return f"all {_counted(kept)}" if kept > 1 else "the only minimal one"


def _counted(minimal: int) -> str:
    return f"{minimal:,} minimal one{'s' * (minimal != 1)}"


def _document(result: SearchResult) -> dict[str, Any]:
    pairs = zip(result.configurations, result.information, strict=True)
    return {
        "records": result.records,
        "combinations": result.nodes,
        "evaluated": result.evaluated,
        "minimal": result.minimal,
        "complete": result.complete,
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


def _report(output: Path, result: SearchResult) -> Iterator[str]:
    yield f"{output}: {_extent(result)}"
    combinations = f"{result.nodes:,} combinations of maskings, {result.evaluated:,} of them evaluated"
    yield f"{combinations}; {result.records:,} records"
    names = list(result.configurations[0].privacy)
    rows = [
        (each.id, *(each.privacy[name] for name in names), each.suppressed or 0, f"{information:.1%}")
        for each, information in list(zip(result.configurations, result.information, strict=True))[:_SHOWN]
    ]
    yield ""
    yield from aligned(("configuration", *names, "suppressed", "information kept"), rows)
    if len(result.configurations) > _SHOWN:
        yield f"  and {len(result.configurations) - _SHOWN:,} more"
