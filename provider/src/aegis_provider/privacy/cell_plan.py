"""Plans that suppress single cells instead of whole records."""

from dataclasses import dataclass, replace

from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.errors import PlanError
from aegis_provider.plan.model import Configuration, Plan
from aegis_provider.privacy.privacy_table import PrivacyTable
from aegis_provider.progress import Progress
from aegis_provider.table import Source, open_table


@dataclass(frozen=True)
class CellPlan:
    """A plan with suppressed cells.

    Attributes:
        plan: The plan. Its configurations with suppression state the numbers of cells and records.
        left_out: By id, the number of records that each of these would leave out without suppressing cells.
    """

    plan: Plan
    left_out: dict[str, int]


def suppress_cells(
    table: Source,
    plan: Plan,
    *,
    delimiter: str = ",",
    memory_limit: str = "1GB",
    progress: Progress = lambda _done, _all: None,
) -> CellPlan:
    """Let each configuration that leaves out records suppress single cells instead, with the same promise.

    Args:
        table: Anything that `open_table` accepts.
        plan: The plan. Configurations without declared suppressed records do not change.
        delimiter: The delimiter of a CSV table.
        memory_limit: The memory limit of DuckDB.
        progress: Called with (done, total), counting configurations.

    Raises:
        PlanError: No configuration leaves out records, or one that does has a masking that is random or was done
        elsewhere. TableError: The table does not fit the plan.
    """
    asked = tuple(
        replace(configuration, suppressed_cells=0) if configuration.suppresses else configuration
        for configuration in plan.configurations
    )
    if not any(each.suppresses for each in asked):
        raise PlanError(f"{plan.source}: no configuration leaves out records; state some under `suppressed`")
    intended = replace(plan, configurations=asked)
    with open_table(table, delimiter=delimiter, memory_limit=memory_limit) as opened:
        privacy = PrivacyTable.of(CountedTable.of(opened, intended), intended)
    configurations: list[Configuration] = []
    left_out: dict[str, int] = {}
    for done, each in enumerate(asked):
        progress(done, len(asked))
        if each.suppresses:
            suppressed = privacy.suppressed(each)
            left_out[each.id] = int(privacy.records.counts[suppressed.places].sum())
            each = replace(each, suppressed=suppressed.records, suppressed_cells=suppressed.cells)  # noqa: PLW2901 - the same, counted
        configurations.append(each)
    return CellPlan(replace(plan, configurations=tuple(configurations)), left_out)
