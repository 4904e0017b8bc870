"""Reads a release, its original table and held-out records, or masks records in memory by a plan's configuration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aegis_advisor.arrays import FloatArray
from aegis_provider.counting.counted_table import CountedTable, DistinctRecords, MaskedDomain
from aegis_provider.counting.label_scores import scores_of_bins
from aegis_provider.counting.people import People
from aegis_provider.errors import TableError, shortened
from aegis_provider.plan.limits import with_person
from aegis_provider.plan.model import DROP, IDENTITY, Attribute, Configuration, Plan
from aegis_provider.privacy import PrivacyTable
from aegis_provider.privacy.cells import STAR
from aegis_provider.records import (
    MOST_RECORDS,
    Records,
    drawn,
    held_out_of,
    held_out_share,
    learnt,
    read_records,
    rows_of,
)
from aegis_provider.release.blocks import Release, blocks_of, places_of
from aegis_provider.synth.released.meanings import Members
from aegis_provider.synth.released.released import Released
from aegis_provider.synth.released.spellings import named_alike
from aegis_provider.table import DELIMITERS, Source, Table, delimiter_in, open_table
from aegis_provider.table.discretization import discretized, undiscretized
from aegis_provider.table.formulas import with_plain_header
from aegis_provider.table.notation import plainly
from aegis_provider.table.values import MISSING


def meanings_by_plan(
    table: Table, plan: Plan, configuration: Configuration, records: Records
) -> Mapping[str, Mapping[str, Members]]:
    """Return by column the values that a configuration masks to each text in this table.

    Columns masked elsewhere are omitted, since they have no mapping. So are values absent from `records`.

    Raises:
        TableError: The table does not fit the plan, or changes while it is read.
    """
    elsewhere = masked_elsewhere(plan, configuration)
    chosen = replace(configuration, maskings={**configuration.maskings, **dict.fromkeys(elsewhere, "drop")})
    masked = {name for name, choice in chosen.maskings.items() if choice not in {IDENTITY, "drop"}}
    release = Release.of(CountedTable.of(table, plan), plan, chosen).only(masked)
    pairs: dict[str, set[tuple[str, str]]] = {name: set() for name in release.names}
    if not release.names:
        return {}
    for original, block in zip(blocks_of(table.batches(release.names)), release.blocks(), strict=True):
        for place, name in enumerate(release.names):
            pairs[name] |= _pairs(original.column(place), block.column(place))
    return {name: _members(found, records, name) for name, found in pairs.items()}


def masked_elsewhere(plan: Plan, configuration: Configuration) -> Sequence[str]:
    """Return the columns that a configuration takes from tables masked elsewhere."""
    maskings = {
        attribute.name: attribute.masking(configuration.maskings[attribute.name]) for attribute in plan.attributes
    }
    return [name for name, masking in maskings.items() if masking is not None and masking.is_elsewhere]


def _pairs(values: pa.Array, texts: pa.Array) -> set[tuple[str, str]]:
    distinct = pa.table({"value": values, "text": texts}).group_by(["value", "text"]).aggregate([])
    return set(zip(distinct["value"].to_pylist(), distinct["text"].to_pylist(), strict=True))


def _members(pairs: set[tuple[str, str]], records: Records, name: str) -> Mapping[str, Members]:
    places = records.column(name).domain.places
    found: dict[str, list[int]] = {}
    for value, text in pairs:
        found.setdefault(text, [])
        if value in places:
            found[text].append(places[value])
    return {text: np.unique(np.array(members, dtype=np.intp)) for text, members in found.items()}


FEWEST = 10
"""With fewer real records, a release cannot be judged."""

SEEN_ALL: Final = "a masked table has seen all records, so none can be held out"


@dataclass(frozen=True, eq=False)
class Opened:
    """A release and the records of its table.

    Attributes:
        released: The release, sampled if it is large.
        seen: The records that the release was made from.
        label: The label; by default the last common column.
        lacking: The columns of the table or the plan that the release lacks.
        is_masked: Whether the release is known to be masked, record by record.
        scores: (values of the label,) The scores of its bins if it is a number; `None` if it has classes.
    """

    released: Released
    records: Records
    seen: Records
    held_out: Records
    share: float
    label: str
    size: int
    of_records: int
    lacking: tuple[str, ...]
    is_masked: bool
    scores: FloatArray | None = None

    @property
    def is_as_large(self) -> bool:
        """Whether the release has about as many records as the table, although some should be held out."""
        held_out = self.of_records * len(self.held_out) / len(self.records)
        return abs(self.size - self.of_records) < held_out / 2


def open_release(
    release: Source,
    table: Source,
    *,
    plan: Plan | None = None,
    configuration: str | None = None,
    label: str | None = None,
    named: Sequence[str] = (),
    holdout: float | None = None,
    delimiter: str | None = None,
    memory_limit: str = "1GB",
    seed: int = 0,
    person: str | None = None,
    rows_per_person: int | None = None,
) -> Opened:
    """Read a release and its original table.

    Args:
        release: The release: anything that `open_table` accepts.
        plan: The plan of the release. Held-out records are then those that the generator held out.
        named: Further columns that both must have, without a plan.
        holdout: The share of records held out from the release; by default 0 if a configuration is named or a released
            value stands for several, as only in masked tables, otherwise that of the plan, or 0.2.
        delimiter: The delimiter of CSV files; by default, the one in each header.
        seed: The seed for sampling a large release.
        person: The column of the table that says whose a record is; by default that of the plan.
        rows_per_person: The most records of a person that are used.

    Raises:
        PlanError: The plan has no such configuration, or states another holdout.
        TableError: A table cannot be read, is too small, lacks a column, or shares none with the other; or a masked
            release has seen the records that should be held out.
    """
    column = plan.label if plan is not None else label or next(iter(named), "")
    marks = [delimiter or delimiter_in(each, column) for each in (release, table)]
    with (
        open_table(release, delimiter=marks[0], memory_limit=memory_limit) as given,
        open_table(table, delimiter=marks[1], memory_limit=memory_limit) as real,
    ):
        whose = with_person(plan or Plan(real.name, label or "", (), (), {}), person, rows_per_person)
        used, split_by = real, None
        if whose.person is not None:
            people = People.of(real, whose.person, whose.rows_per_person)
            used, split_by = people.bounded(real), people.split_by(whose.rows_per_person)
            plan = None if plan is None else replace(plan, person=whose.person, rows_per_person=people.rows)
        original = used if plan is None else discretized(plainly(used, plan.writings), plan.label_bins)
        masked = with_plain_header(given, original.columns)
        _refuse_other_delimiters(original, masked)
        attributes, label = _columns(original, masked, plan, label, named)
        attributes = [each for each in attributes if each.name != whose.person]
        alike = named_alike([*(attribute.name for attribute in attributes), label], masked.columns)
        records = read_records(original, attributes, label, person=split_by)
        if len(records) < FEWEST:
            raise TableError(f"{original.name}: {len(records)} records; at least {FEWEST} are needed")
        known: Mapping[str, Mapping[str, Members]] = {}
        opaque: Sequence[str] = ()
        if plan is not None and configuration is not None:
            chosen = plan.configuration(configuration)
            known, opaque = meanings_by_plan(original, plan, chosen, records), masked_elsewhere(plan, chosen)
        if not any(name in alike for name in records.names):
            raise TableError(f"{masked.name}: no column of {original.name} is in it; give a release of that table")
        size, texts = _sample(masked, {name: alike[name] for name in records.names if name in alike}, seed)
        not_read = tuple(each for each in masked.columns if each not in alike.values())
        released = replace(Released.of(records, texts, known).stated(opaque), not_read=not_read)
        is_masked = configuration is not None or released.is_masked
        share = 0.0 if is_masked and holdout is None else held_out_share(plan, holdout)
        held_out = held_out_of(records if plan is None else learnt(records, plan), share)
        seen = records.take(~held_out)
        if len(seen) < FEWEST:
            raise TableError(f"{original.name}: {len(seen)} records are not held out; lower --holdout")
        lacking = tuple(name for name in records.names if name not in alike)
        of_label, of_records, unseen = records.column(label), original.records(), records.take(held_out)
        scores = None
        if plan is not None:
            scores = scores_of_bins(original.reading(label), plan, of_label.domain, of_label.counts)
        opened = Opened(released, records, seen, unseen, share, label, size, of_records, lacking, is_masked, scores)
        if is_masked and share and (configuration is None or opened.is_as_large):
            raise TableError(f"{masked.name}: {SEEN_ALL}; leave --holdout out")
        return opened


def _sample(masked: Table, columns: Mapping[str, str], seed: int) -> tuple[int, pa.Table]:
    """Return the number of records of a release, and at most `MOST_RECORDS` of them, with its columns renamed."""
    size = masked.records()
    if not size:
        raise TableError(f"{masked.name}: no record; give a release that has some")
    rows = drawn(size, MOST_RECORDS, seed)
    return size, rows_of(masked.batches([*columns.values()]), rows).rename_columns([*columns])


def _refuse_other_delimiters(original: Table, masked: Table) -> None:
    """Refuse tables with at most one common column if either header seems to have another delimiter."""
    if named_alike(original.columns, masked.columns) and len(original.columns) > 1:
        return
    both = ((original, masked), (masked, original))
    marks = {one.name: mark for one, other in both for name in other.columns if (mark := one.likely_delimiter(name))}
    for one, other in both:
        if mark := marks.get(one.name):
            word, option = DELIMITERS[mark]
            is_mixed = other.delimiter is not None and marks.get(other.name) != mark
            mend = f", unlike {other.name}; write both alike" if is_mixed else f"; add --delimiter {option}"
            raise TableError(f"{one.name}: looks separated by {word}{mend}")


def _columns(
    original: Table, masked: Table, plan: Plan | None, label: str | None, named: Sequence[str]
) -> tuple[Sequence[Attribute], str]:
    """Return the attributes and the label: those of the plan, or the common columns."""
    if plan is not None:
        return plan.attributes, plan.label
    needed = [*named, *([label] if label else [])]
    original.positions(needed)
    alike = named_alike(original.columns, masked.columns)
    for name in needed:
        if name not in alike:
            raise TableError(f"{masked.name}: no column {shortened(name)}; name only columns that it has")
    common = sorted(alike, key=lambda name: masked.columns.index(alike[name]))
    if not common:
        raise TableError(f"{masked.name}: no column of {original.name} is in it; give a release of that table")
    label = label or common[-1]
    return [Attribute(each, None, ()) for each in common if each != label], label


Places = NDArray[np.intp]
Rows = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class MaskedRecords:
    """The records of a table in memory, sampled if it is large, for masking by a plan's configurations.

    Attributes:
        records: The records, with the plan's attributes and, as the last column, the label.
        codes: By column, (records,) the place of each record's value in its counted domain, where numbers may be bins.
        privacy: The classes of the whole table, which determine suppression; `None` if no configuration suppresses.
        combination: (records,) The place of each record among the distinct records of `privacy`, which are people's.
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
        whose = None if counted.people is None else counted.people.split_by(plan.rows_per_person)
        as_learnt = discretized(undiscretized(counted.table), plan.label_bins)
        records = read_records(as_learnt, plan.attributes, plan.label, person=whose)
        codes = _codes(counted, plan, records)
        if not any(configuration.suppresses for configuration in plan.configurations):
            return cls(plan, records, counted, codes, None, np.zeros(len(records), dtype=np.intp))
        privacy = PrivacyTable.of(counted, plan)
        distinct, own = privacy.records.codes, np.stack([codes[name] for name in privacy.records.columns], axis=1)
        if counted.person is not None and privacy.records.people is not None:
            theirs, mine = _persons_in(privacy.records, privacy.records.people, counted.table, counted.person)
            distinct, own = np.column_stack([distinct, theirs]), np.column_stack([own, mine])
        return cls(plan, records, counted, codes, privacy, _found(distinct, own, table.name))

    def can_release(self, configuration: Configuration) -> bool:
        """Return whether values determine their masked values, so that other records can be masked equally."""
        maskings = (attribute.masking(configuration.maskings[attribute.name]) for attribute in self.plan.attributes)
        return all(masking is None or masking.is_by_value for masking in maskings)

    def released(self, configuration: Configuration, rows: Rows) -> Released:
        """Return the masked records of `rows`, (records,), that a configuration does not suppress, perhaps none.

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
        """(records,) Return the records that are left out, and by column, the suppressed cells where there are some."""
        nothing = np.zeros(len(self.records), dtype=np.bool_)
        if self.privacy is None or not configuration.suppresses:
            return nothing, {}
        suppressed = self.privacy.suppressed(configuration)
        known = suppressed.columns
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
    """Return by column, (records,) the place of each record's value in its counted domain."""
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


def _persons_in(distinct: DistinctRecords, people: Places, table: Table, person: str) -> tuple[Places, Places]:
    """Return (distinct records,) and (records,) the number of the person of each; -1 for one without a text.

    Of those without, each is of another person, and all with the same values are treated alike.
    """
    [texts] = rows_of(table.batches([person]), drawn(table.records(), MOST_RECORDS, 0)).columns
    places = {name: place for place, name in enumerate(distinct.names) if name != MISSING}
    own = np.array([places.get(text, -1) for text in texts.to_pylist()], dtype=np.intp)
    return np.where(people < len(distinct.names), people, -1), own


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
