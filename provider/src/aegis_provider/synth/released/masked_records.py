"""Masks some of a table's records in memory, by any configuration of its plan."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aegis_provider.counting.counted_table import CountedTable, MaskedDomain
from aegis_provider.errors import TableError
from aegis_provider.plan.model import DROP, IDENTITY, Configuration, Plan
from aegis_provider.privacy import PrivacyTable
from aegis_provider.privacy.cells import STAR
from aegis_provider.records import MOST_RECORDS, Records, drawn, read_records, rows_of
from aegis_provider.release.blocks import places_of
from aegis_provider.synth.released.released import Released
from aegis_provider.table import Table
from aegis_provider.table.discretization import undiscretized

Places = NDArray[np.intp]
Rows = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class MaskedRecords:
    """The records of a table in memory, sampled if it is large, for masking by a plan's configurations.

    Attributes:
        plan: The plan.
        records: The records, with the plan's attributes and, as the last column, the label.
        counted: The whole table, counted.
        codes: By column, (records,) the place of each record's value in its counted domain, where numbers may be bins.
        privacy: The classes of the whole table, which determine suppression; `None` if no configuration suppresses.
        combination: (records,) The place of each record among the distinct records of `privacy`.
    """

    plan: Plan
    records: Records
    counted: CountedTable
    codes: Mapping[str, Places]
    privacy: PrivacyTable | None
    combination: Places
    _meanings: dict[tuple[str, str], Mapping[str, Places]] = field(default_factory=dict)

    @classmethod
    def read(cls, table: Table, plan: Plan) -> Self:
        """Read the records of a table.

        Raises:
            TableError: The table does not fit the plan, or changes while it is read.
        """
        counted = CountedTable.of(table, plan)
        records = read_records(undiscretized(counted.table), plan.attributes, plan.label)
        codes = _codes(counted, plan, records)
        if not any(configuration.suppresses for configuration in plan.configurations):
            return cls(plan, records, counted, codes, None, np.zeros(len(records), dtype=np.intp))
        privacy = PrivacyTable.of(counted, plan)
        own = np.stack([codes[name] for name in privacy.records.columns], axis=1)
        return cls(plan, records, counted, codes, privacy, _found(privacy.records.codes, own, table.name))

    def can_release(self, configuration: Configuration) -> bool:
        """Return whether values determine their masked values, so that other records can be masked equally."""
        maskings = (attribute.masking(configuration.maskings[attribute.name]) for attribute in self.plan.attributes)
        return all(masking is None or masking.is_by_value for masking in maskings)

    def released(self, configuration: Configuration, rows: Rows) -> Released:
        """Return the records in `rows`, (records,), masked by a configuration, without left-out ones; may be empty.

        Raises:
            PlanError: The configuration masks at random, or elsewhere.
            TableError: A masking has no masked value for a value.
        """
        left_out, stars = self._suppressed(configuration)
        chosen = np.flatnonzero(rows & ~left_out)
        choices = {name: configuration.maskings.get(name, IDENTITY) for name in self.records.names}
        shared = {name: choice for name, choice in choices.items() if choice != DROP}
        texts = {name: self._texts(name, choice, chosen, stars.get(name)) for name, choice in shared.items()}
        known = {name: self._known(name, choice) for name, choice in shared.items()}
        return Released.of(self.records, pa.table(texts), known)

    def _suppressed(self, configuration: Configuration) -> tuple[Rows, Mapping[str, Rows]]:
        """Return (records,) whether each record is left out, and by column with suppressed cells, (records,) these
        cells.
        """
        nothing = np.zeros(len(self.records), dtype=np.bool_)
        if self.privacy is None or not configuration.suppresses:
            return nothing, {}
        suppressed = self.privacy.suppressed(configuration)
        known = [each for each in self.privacy.shared(configuration) if each in self.plan.quasi_identifiers]
        of_distinct = np.zeros((len(self.privacy.records.counts), 1 + len(known)), dtype=np.bool_)
        of_distinct[suppressed.places, 0] = suppressed.left_out
        of_distinct[suppressed.places, 1:] = suppressed.stars
        marked = of_distinct[self.combination]
        return marked[:, 0], {name: marked[:, 1 + n] for n, name in enumerate(known) if marked[:, 1 + n].any()}

    def _texts(self, name: str, choice: str, chosen: Places, stars: Rows | None) -> pa.Array:
        """(chosen,) The masked texts of some records."""
        masked = self._masked_domain(name, choice)
        texts = np.array(masked.texts, dtype=object)[np.array(masked.mapping, dtype=np.intp)[self.codes[name][chosen]]]
        return pa.array(texts if stars is None else np.where(stars[chosen], STAR, texts), pa.string())

    def _known(self, name: str, choice: str) -> Mapping[str, Places]:
        """Return the values that each masked text stands for, including `*` for all."""
        if (name, choice) not in self._meanings:
            masked, original = self._masked_domain(name, choice), self.records.column(name)
            of_record = np.array(masked.mapping, dtype=np.intp)[self.codes[name]]
            pairs = np.unique(np.stack([of_record, original.places], axis=1), axis=0)
            members = np.split(pairs[:, 1], np.searchsorted(pairs[:, 0], np.arange(1, len(masked.texts))))
            everything = {STAR: np.arange(len(original.domain))}
            self._meanings[name, choice] = everything | dict(zip(masked.texts, members, strict=True))
        return self._meanings[name, choice]

    def _masked_domain(self, name: str, choice: str) -> MaskedDomain:
        attribute = next((each for each in self.counted.attributes if each.attribute.name == name), None)
        if attribute is None or choice == IDENTITY:
            domain = self.counted.label if attribute is None else attribute.domain
            return MaskedDomain(domain.texts, tuple(range(len(domain))))
        masking = next(each for each in attribute.attribute.maskings if each.id == choice)
        return MaskedDomain.of(self.counted.masked(attribute, masking))


def _codes(counted: CountedTable, plan: Plan, records: Records) -> Mapping[str, Places]:
    """Return by column, (records,) the place of each record's value in its counted domain.

    Raises:
        TableError: The records have changed, or come in another order.
    """
    texts = rows_of(counted.table.batches(records.names), drawn(counted.records, MOST_RECORDS, 0))
    domains = {
        **{attribute.attribute.name: attribute.domain for attribute in counted.attributes},
        plan.label: counted.label,
    }
    try:
        codes = {
            name: places_of(texts.column(place).combine_chunks(), domains[name].places)
            for place, name in enumerate(records.names)
        }
    except KeyError as error:
        raise _changed(counted.table.name) from error
    for column in records.columns:
        places = np.array([domains[column.name].places.get(text, -1) for text in column.domain.texts])
        if (places >= 0).all() and not np.array_equal(codes[column.name], places[column.places]):  # otherwise, bins
            raise _changed(counted.table.name)
    return codes


def _found(distinct: Places, own: Places, table: str) -> Places:
    """(records,) The place of each row of `own` among the rows of `distinct`."""
    _, numbers = np.unique(np.concatenate([distinct, own]), axis=0, return_inverse=True)
    numbers = numbers.reshape(-1)
    place_of = np.full(numbers.max() + 1, -1, dtype=np.intp)
    place_of[numbers[: len(distinct)]] = np.arange(len(distinct))
    found = place_of[numbers[len(distinct) :]]
    if (found < 0).any():
        raise _changed(table)
    return found


def _changed(table: str) -> TableError:
    return TableError(f"{table}: changed while it was read, or returns its records in another order each time")
