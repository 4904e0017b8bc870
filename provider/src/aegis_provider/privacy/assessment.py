"""The privacy and the risk of a table and of every release that its plan describes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.plan.model import Configuration, Plan
from aegis_provider.privacy.assessed import Assessed
from aegis_provider.privacy.class_sizes import ClassSizes
from aegis_provider.privacy.classes import Classes
from aegis_provider.privacy.columns import Column, columns_of
from aegis_provider.privacy.criteria import AT_LEAST, measure_privacy
from aegis_provider.privacy.release import PrivacyTable
from aegis_provider.progress import Progress
from aegis_provider.table import Source, open_table

IN_BINS: Final = ", numbers in the plan's bins"
"""Said of a table as it is whose numbers the plan discretises."""


@dataclass(frozen=True, eq=False)
class Assessment:
    """A table `as_it_is` (its `id` is empty), and the releases of its plan, in the plan's order."""

    plan: Plan
    as_it_is: Assessed
    releases: tuple[Assessed, ...]

    @property
    def configurations(self) -> tuple[Configuration, ...]:
        """What the plan says of each of the releases."""
        chosen = {each.id for each in self.releases}
        return tuple(each for each in self.plan.configurations if each.id in chosen)

    @property
    def neither(self) -> tuple[str, ...]:
        """The columns that are neither quasi-identifiers nor sensitive, though perhaps released."""
        looked_at = {*self.plan.quasi_identifiers, *self.plan.sensitive}
        return tuple(name for name in self.plan.columns if name not in looked_at)

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns, as the only release has them; none unless it is the only one."""
        return columns_of(self.plan, self.configurations[0]) if len(self.releases) == 1 else ()

    @property
    def binned(self) -> tuple[str, ...]:
        """The columns looked at that are discretised, so that even the table as it is was measured on their bins."""
        columns = {*self.plan.quasi_identifiers, *self.plan.sensitive}
        return tuple(each.name for each in self.plan.attributes if each.discretization and each.name in columns)

    @property
    def unmasked_name(self) -> str:
        """What the table before any masking is called."""
        return f"table as it is{IN_BINS if self.binned else ''}"

    @property
    def unmasked_id(self) -> str:
        """What stands for the table before any masking where releases have their ids."""
        return "(as it is, in bins)" if self.binned else "(as it is)"


def assess(
    table: Source,
    plan: Plan,
    *,
    configuration: str | None = None,
    require: Mapping[str, float] | None = None,
    delimiter: str = ",",
    memory_limit: str = "1GB",
    progress: Progress = lambda _done, _all: None,
) -> Assessment:
    """Measures the table and all releases of the plan, or the one of that `configuration`.

    `require`: privacy by name that each is to hold besides what it promises; without configurations the table as it is
    has to. `progress` is told of how many releases are measured.
    Raises `PlanError` for an unknown configuration, and `TableError` for a table that does not fit the plan.
    """
    chosen = _chosen(plan, configuration)
    with open_table(table, delimiter=delimiter, memory_limit=memory_limit) as opened:
        measured = PrivacyTable.of(CountedTable.of(opened, plan), plan)
    whole = measured.unmasked()
    as_it_is = _assessed("", {} if chosen else require or {}, whole)
    releases = []
    for done, each in enumerate(chosen):
        progress(done, len(chosen))
        releases.append(_release(measured, each, require or {}))
    return Assessment(plan, as_it_is, tuple(releases))


def _chosen(plan: Plan, configuration: str | None) -> tuple[Configuration, ...]:
    if configuration is None:
        return plan.configurations
    return (plan.configuration(configuration),)


def _release(table: PrivacyTable, configuration: Configuration, require: Mapping[str, float]) -> Assessed:
    promise = _stricter(configuration.privacy, require)
    chance, elsewhere = table.left_to_chance(configuration), table.masked_elsewhere(configuration)
    if chance or elsewhere:
        return Assessed(
            configuration.id, promise, {}, None, left_to_chance=tuple(chance), masked_elsewhere=tuple(elsewhere)
        )
    classes = table.released(configuration)
    suppressed = int(table.records.counts.sum()) - classes.records
    found = _assessed(configuration.id, promise, classes)
    return replace(found, suppressed=suppressed, declared=configuration.suppressed)


def _stricter(promise: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    both = {name: (max if name in AT_LEAST else min)(promise[name], other[name]) for name in promise if name in other}
    return {**promise, **other, **both}


def _assessed(release: str, promise: Mapping[str, float], classes: Classes) -> Assessed:
    return Assessed(release, promise, measure_privacy(classes), ClassSizes.of(classes))
