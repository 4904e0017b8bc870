"""The equivalence classes in the release of each configuration of a plan, and the records and cells it suppresses."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aegis_provider.counting.counted_table import CountedTable, DistinctRecords
from aegis_provider.counting.counts import Places
from aegis_provider.errors import PlanError
from aegis_provider.plan.limits import refuse_several
from aegis_provider.plan.model import DROP, IDENTITY, Configuration, Plan
from aegis_provider.privacy.cells import MaskedRecords, Suppressed, costs_of, suppress
from aegis_provider.privacy.classes import Classes, classes_as_written, classes_by_role
from aegis_provider.privacy.known_rows import KnownRows
from aegis_provider.privacy.measuring import refuse_without_order
from aegis_provider.processes import Progress
from aegis_provider.table import Source, Table, open_table
from aegis_provider.table.engine import ibis
from aegis_provider.table.values import MISSING, Domain


@dataclass(frozen=True, eq=False)
class PrivacyTable:
    """The distinct records of a table, with the mappings of its plan's maskings.

    Attributes:
        written: The same records with every text as a separate value, if some value has several texts.
        mappings: By attribute and masking id, (values,) the place of each value's masked value. Random maskings, and
            those applied elsewhere, have none.
        costs: The cost of a suppressed cell of each attribute, by configuration id (`costs_of`).
    """

    plan: Plan
    records: DistinctRecords
    written: DistinctRecords
    mappings: Mapping[tuple[str, str], Places]
    costs: Mapping[str, Mapping[str, float]]

    @classmethod
    def of(cls, counted: CountedTable, plan: Plan, columns: Sequence[str] = ()) -> "PrivacyTable":
        """Read the table once more, and again if it has several texts for a value.

        Args:
            columns: Further columns to read, besides the quasi-identifiers and the sensitive attributes.

        Raises:
            PlanError: The plan has no quasi-identifiers and no sensitive attributes, or promises a criterion that needs
            an order of sensitive values without one. TableError: As for `CountedTable.of` and `masked_domains`.
        """
        roles = plan.all_roles
        columns = columns or list(dict.fromkeys((*roles.quasi_identifiers, *roles.sensitive)))
        if not columns:
            raise PlanError(f"{plan.source}: no attribute is a quasi-identifier or sensitive; name some")
        refuse_without_order(plan.promised_names, counted, plan)
        mappings = {
            (attribute.attribute.name, masking): np.array(domain.mapping, dtype=np.intp)
            for attribute in counted.chosen(plan)
            if attribute.attribute.name in columns
            for masking, domain in counted.masked_domains(attribute).items()
        }
        records = DistinctRecords.of(counted, columns)
        is_plain = all(each.has_one_spelling for each in records.domains)
        written = records if is_plain else DistinctRecords.of(counted, columns, by_spelling=True)
        costs = {configuration.id: costs_of(counted, configuration) for configuration in plan.configurations}
        return cls(plan, records, written, mappings, costs)

    def unmasked(self) -> tuple[Classes, ...]:
        """Return the classes of the unmasked table in each attack, by its texts."""
        return tuple(classes_as_written(self.written, one.quasi_identifiers, one.sensitive) for one in self.plan.roles)

    def left_to_chance(self, configuration: Configuration) -> list[str]:
        """Return the columns masked at random; only the masked table has their masked values."""
        return [name for name, by_chance in self._unmapped(configuration) if by_chance]

    def masked_elsewhere(self, configuration: Configuration) -> list[str]:
        """Return the columns masked in another table; only that table has their masked values."""
        return [name for name, by_chance in self._unmapped(configuration) if not by_chance]

    def masked(self, configuration: Configuration) -> tuple[Classes, ...]:
        """Return the classes of all records in each attack, as masked by the configuration, before suppression.

        Raises:
            PlanError: A masking is random or was made elsewhere.
        """
        masked = self._masked_records(configuration)
        return classes_by_role(masked.records, masked.mappings, masked.roles)

    def suppressed(self, configuration: Configuration) -> Suppressed:
        """Return the records that the configuration suppresses, wholly or in part.

        Raises:
            PlanError: A masking is random or was made elsewhere.
        """
        promise = configuration.privacy if self.records.people is None else configuration.promised
        return suppress(self._masked_records(configuration), promise, self.costs[configuration.id])

    def known_rows(self, configuration: Configuration, suppressed: Suppressed | None, k: float) -> KnownRows | None:
        """Return how many people have fewer than `k` alike, to someone who knows some of their records in a release.

        `None` if records are people.

        Raises:
            PlanError: A masking is random or was made elsewhere.
        """
        masked = self._masked_records(configuration)
        if suppressed is not None:
            masked = masked.only(np.setdiff1d(np.arange(len(masked.records.counts)), suppressed.places))
        return KnownRows.of_worst(masked.records, masked.mappings, masked.roles, k)

    def mappings_of(self, configuration: Configuration) -> dict[str, Places]:
        """Return the mapping of each column that the configuration masks by value."""
        return {name: self.mappings[name, choice] for name, choice in self._masked(configuration).items()}

    def shared(self, configuration: Configuration) -> list[str]:
        """Return the columns that the configuration does not drop."""
        return [name for name in self.records.columns if configuration.maskings.get(name) != DROP]

    def _masked_records(self, configuration: Configuration) -> MaskedRecords:
        chance, elsewhere = self.left_to_chance(configuration), self.masked_elsewhere(configuration)
        if chance or elsewhere:
            why = f"masks {', '.join(chance)} at random" if chance else f"has {', '.join(elsewhere)} masked elsewhere"
            raise PlanError(
                f"{self.plan.source}: {configuration.id} {why}; "
                "measure the masked table with --quasi-identifiers and --sensitive"
            )
        roles = self.plan.roles_among(self.shared(configuration))
        return MaskedRecords(self.records, self.mappings_of(configuration), roles)

    def _unmapped(self, configuration: Configuration) -> Iterator[tuple[str, bool]]:
        """Yield the columns without a mapping, and whether they are masked at random rather than elsewhere."""
        elsewhere = {
            (attribute.name, masking.id)
            for attribute in self.plan.attributes
            for masking in attribute.maskings
            if masking.is_elsewhere
        }
        for name, choice in self._masked(configuration).items():
            if (name, choice) not in self.mappings:
                yield name, (name, choice) not in elsewhere

    def _masked(self, configuration: Configuration) -> dict[str, str]:
        """Return the masking of each column that the configuration masks."""
        choices = {name: configuration.maskings.get(name, IDENTITY) for name in self.records.columns}
        return {name: choice for name, choice in choices.items() if choice not in {IDENTITY, DROP}}


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
        plan: The plan. Configurations without declared suppressed records do not change.

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
    refuse_several(plan, "suppressed cells")
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


def shown_records(counted: CountedTable, plan: Plan) -> CountedTable:
    """Return the table without the records that every release leaves out, recounted if there are any.

    With a masking that is random or was applied elsewhere, the records left out are unknown, and all are counted.

    Raises:
        TableError: The table cannot be read.
    """
    leave_out = all(configuration.suppresses for configuration in plan.configurations)
    if not leave_out or any(not masking.is_by_value for attribute in plan.attributes for masking in attribute.maskings):
        return counted
    privacy = PrivacyTable.of(counted, plan)
    hidden = _hidden_in_all(privacy, plan)
    if not hidden.any():
        return counted
    records, columns = privacy.records, [*privacy.records.columns]
    texts = [_texts(domain, codes) for domain, codes in zip(records.domains, records.codes[hidden].T, strict=True)]
    if records.people is not None and counted.person is not None:  # others with the same values may stay
        columns.append(counted.person)
        texts.append([each] for each in records.names_of(records.people[hidden]))
    combinations = sorted({each for spelled in zip(*texts, strict=True) for each in product(*spelled)})
    return counted.restricted_to(_without(counted.table, columns, combinations), plan.label)


def _hidden_in_all(privacy: PrivacyTable, plan: Plan) -> NDArray[np.bool_]:
    """(combinations,) Which of the distinct records are in no release."""
    hidden = np.ones(len(privacy.records.counts), dtype=np.bool_)
    for configuration in plan.configurations:
        suppressed = privacy.suppressed(configuration)
        left_out = np.zeros_like(hidden)
        left_out[suppressed.places] = suppressed.left_out
        hidden &= left_out
        if not hidden.any():
            break
    return hidden


def _texts(domain: Domain, codes: NDArray[np.intp]) -> Iterator[Sequence[str]]:
    """Yield for each code all texts of its value in the table."""
    spellings: dict[int, list[str]] = {}
    for text, place in domain.places.items():
        spellings.setdefault(place, []).append(text)
    yield from (spellings[code] for code in codes.tolist())


def _without(table: Table, columns: Sequence[str], combinations: Sequence[tuple[str, ...]]) -> Table:
    """Return the table without the records that have one of these combinations of texts."""
    readings = [table.reading(name) for name in columns]
    keys = {
        f"h{n}": pa.array(
            [None if combination[n] == MISSING else reading.key_of(combination[n]) for combination in combinations],
            ibis.dtype(reading.type).to_pyarrow(),
        )
        for n, reading in enumerate(readings)
    }
    hidden = table.engine.keep(table.engine.lookup(pa.table(keys)))
    places = table.positions(columns)
    equal = [
        reading.key(table.source[f"c{place}"]).identical_to(hidden[f"h{n}"])
        for n, (place, reading) in enumerate(zip(places, readings, strict=True))
    ]
    return replace(table, source=table.source.anti_join(hidden, equal), memory=None, kept={})
