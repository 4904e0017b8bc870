from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aegis_provider.cli.options import DelimiterOption, PlanOption, TableArgument, memory_limit
from aegis_sdk.cli.options import JsonOption
from aegis_sdk.cli.terminal import aligned, print_result, progress_bar, say

if TYPE_CHECKING:
    from aegis_provider.privacy.privacy_table import CellPlan

_SHOWN = 10


def cells(
    table: TableArgument,
    plan: PlanOption,
    output: Annotated[Path, typer.Option(help="A copy of the plan with the numbers of suppressed cells.")],
    delimiter: DelimiterOption = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Suppress single cells instead of whole records.

    A configuration that leaves out records suppresses single cells of these records instead, which become `*`, and
    still meets its promise. Records are left out only where suppressing cells is not enough. `aegis apply` and the
    other commands follow the new plan.
    """
    from aegis_provider.output import refuse_overwriting
    from aegis_provider.plan.reading import load_plan
    from aegis_provider.plan.writing import write_plan
    from aegis_provider.privacy.privacy_table import suppress_cells
    from aegis_provider.table import delimiter_in, table_name

    intended = load_plan(plan)
    delimiter = delimiter or delimiter_in(table, intended.label)
    refuse_overwriting(output, table, *intended.files)
    say(f"reading {table_name(table)} ...")
    with progress_bar("choosing cells") as progress:
        found = suppress_cells(table, intended, delimiter=delimiter, memory_limit=memory_limit(), progress=progress)
    write_plan(plan, intended, found.plan.configurations, output, "With suppressed cells, by `aegis plan cells`.")
    print_result({"output": str(output), "configurations": _listed(found)}, _report(output, found), as_json=as_json)


def _listed(found: CellPlan) -> list[dict[str, Any]]:
    return [
        {
            "id": configuration.id,
            "left_out_without": found.left_out[configuration.id],
            "suppressed": configuration.suppressed,
            "suppressed_cells": configuration.suppressed_cells,
        }
        for configuration in found.plan.configurations
        if configuration.id in found.left_out
    ]


def _report(output: Path, found: CellPlan) -> Iterator[str]:
    rows = [tuple(each.values()) for each in _listed(found)]
    yield f"{output}: {len(rows):,} of {len(found.plan.configurations):,} configurations suppress cells"
    yield ""
    yield from aligned(("configuration", "left out before", "left out now", "cells suppressed"), rows[:_SHOWN])
    if len(rows) > _SHOWN:
        yield f"  and {len(rows) - _SHOWN:,} more"
