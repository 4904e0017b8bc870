"""The privacy that a configuration promises: the suppression it takes, and the privacy of the written table."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from aegis_provider.counting.counted_table import DistinctRecords
from aegis_provider.counting.counts import Places
from aegis_provider.errors import OutputError, UnmaskableValueError, shortened
from aegis_provider.plan.model import Configuration, Plan, Roles
from aegis_provider.privacy import CRITERIA, Classes, KnownRows, class_of_each, classes_by_role, holds
from aegis_provider.privacy.cells import STAR, MaskedRecords, Suppressed, costs_of, suppress
from aegis_provider.release.blocks import Release, places_of
from aegis_provider.table import Table
from aegis_provider.table.arrays import numbers_in, text_array
from aegis_provider.table.values import Domain, Key, key_of


@dataclass(frozen=True, eq=False)
class Suppression:
    """The suppression of equivalence classes that break a release's promise.

    Attributes:
        release: The release; domains with suppressed cells include `*`.
        suppressed: The numbers of suppressed records and cells, and the classes before suppression.
        broken: (broken,) the keys of the classes that break the promise.
        stars: (broken + 1, columns) which cells of each become `*`; none in the last row, for other classes.
        left_out: (broken + 1,) which of them are left out; not the last.
        people: The people who are left out, with records in other classes, too; `None` if records are people.
        stays: The records of the others; `None` if records are people.
        held: (records,) The records that are held back besides, in the order of the table; `None` if none are.
    """

    release: Release
    suppressed: Suppressed
    broken: pa.FixedSizeBinaryArray
    stars: NDArray[np.bool_]
    left_out: NDArray[np.bool_]
    people: pa.StringArray | None = None
    stays: DistinctRecords | None = None
    held: NDArray[np.bool_] | None = None

    @classmethod
    def of(cls, release: Release, judged: "JudgedRecords", suppressed: Suppressed) -> "Suppression":
        """Return the suppression in a release of these distinct records.

        Of classes that some people stay in, only the others are left out. Records without a person are in none.
        """
        records = judged.records
        whole = np.ones(len(suppressed.classes), dtype=np.bool_) if suppressed.empties is None else suppressed.empties
        _, firsts = np.unique(suppressed.classes[whole], return_index=True)
        firsts = np.flatnonzero(whole)[firsts]
        people, stays = None, None
        if suppressed.people is not None:
            people = judged.named(suppressed.people)
            stays = records.take(np.setdiff1d(np.arange(len(records.counts)), suppressed.places))
        columns = [records.columns.index(name) for name in suppressed.columns]
        codes = records.codes[suppressed.places[firsts]][:, columns]
        stars = np.pad(suppressed.stars[firsts], ((0, 1), (0, 0)))
        starred = [name for name, cells in zip(suppressed.columns, stars.T, strict=True) if cells.any()]
        left_out = np.pad(suppressed.left_out[firsts], (0, 1))
        return cls(release.with_stars(starred), suppressed, _keys(codes), stars, left_out, people, stays)

    def applied(self, blocks: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield blocks of the release `by_person`, as they come, with suppressed cells, without the records left out.

        Raises:
            TableError: The number of remaining records is wrong, for example because a database changed the order of
                records.
        """
        expected, start = self.release.counted.records - self.suppressed.records - self.held_back, 0
        for block in blocks:
            starred, left_out = self.marked(block)
            if self.held is not None:
                left_out = pc.or_(left_out, pa.array(self.held[start : start + block.num_rows]))
                start += block.num_rows
            left = starred.filter(pc.invert(left_out))
            expected -= left.num_rows
            yield left
        if expected:
            raise self.release.changed()

    @property
    def held_back(self) -> int:
        """How many records are held back."""
        return 0 if self.held is None else int(np.count_nonzero(self.held))

    def marked(self, block: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.BooleanArray]:
        """Return a block of the release `by_person`, suppressed, and (records,) whether each record is left out."""
        names, domains, columns = self.release.names, self.release.domains, self.suppressed.columns
        places, mine = [names.index(name) for name in columns], [domains[name] for name in columns]
        found = pc.index_in(_keys(codes_of(block, places, mine)), value_set=self.broken)
        classes = found.fill_null(len(self.broken)).to_numpy()
        left_out = pa.array(self.left_out[classes])
        if self.people is not None:
            left_out = pc.or_(left_out, pc.is_in(block.column(len(names)), value_set=self.people))
        return self._starred(block, places, classes), left_out

    def _starred(self, block: pa.RecordBatch, places: Sequence[int], classes: Places) -> pa.RecordBatch:
        """Return the block with `*` in the cells to suppress; `classes`: (records,) rows of `stars`."""
        columns = block.columns
        for place, stars in zip(places, self.stars.T, strict=True):
            if stars.any():
                columns[place] = pc.if_else(pa.array(stars[classes]), STAR, columns[place])
        return pa.record_batch(columns, schema=block.schema)


@dataclass(frozen=True, eq=False)
class Promise:
    """The promise of a configuration on its release.

    Attributes:
        roles: The attacks on the columns that the release shares; with several labels, on each.
    """

    release: Release
    configuration: Configuration
    roles: tuple[Roles, ...]

    @classmethod
    def of(cls, release: Release, plan: Plan, configuration: Configuration) -> "Promise":
        """Return the promise; in the release, dropped attributes are neither quasi-identifiers nor sensitive."""
        return cls(release, configuration, plan.roles_among(release.names))

    @property
    def judged(self) -> Release:
        """The release restricted to the columns that decide whether the promise holds, `by_person`."""
        return self.release.only(self.columns).by_person()

    def suppression(self, blocks: Iterable[pa.RecordBatch]) -> Suppression:
        """Return the suppression of records in the blocks of `judged` that break the promise.

        Memory holds only distinct combinations of values and people, never records.
        """
        judged = self._judged(blocks)
        masked = MaskedRecords(judged.records, {}, self.roles)
        costs = costs_of(self.release.counted, self.configuration)
        promise = self.configuration.privacy if judged.records.people is None else self.configuration.promised
        suppressed = suppress(masked, promise, costs)
        return Suppression.of(self.release, judged, suppressed)

    def records(self, written: Table, suppression: Suppression | None) -> DistinctRecords:
        """Return the distinct records of the written texts that decide whether it is kept.

        The written table does not say whose a record is: the people are those of the records that were written into it,
        which must be equal.

        Args:
            written: The written table.
            suppression: What was suppressed in it, if anything.

        Raises:
            OutputError: The table differs from what was written.
            TableError: The table cannot be read.
        """
        release = self.release if suppression is None else suppression.release
        records = records_in(written, release.domains, self.columns)
        if self.release.counted.person is None:
            return records
        if suppression is None:
            return _of_people(records, self._judged(self.judged.blocks()).records)
        if suppression.held is None and suppression.stays is not None:
            return _of_people(records, suppression.stays)
        judged = replace(suppression, release=suppression.release.only(self.columns))
        return _of_people(records, self._judged(judged.applied(judged.release.by_person().blocks())).records)

    def classes(self, records: DistinctRecords, suppression: Suppression | None) -> tuple[Classes, ...]:
        """Return the classes of the written records in each attack; a suppressed cell counts as a separate value.

        Classes are compared with the whole table, including suppressed records.
        """
        before = None if suppression is None else suppression.suppressed.before
        return classes_by_role(records, {}, self.roles, before)

    def known_rows(self, records: DistinctRecords, k: float | None) -> KnownRows | None:
        """Return how many people have too few alike to someone who knows some of their written records.

        Args:
            k: How many should be alike; by default the promised `k`.
        """
        return KnownRows.of_worst(records, {}, self.roles, self.configuration.promised.get("k", 1) if k is None else k)

    def _judged(self, blocks: Iterable[pa.RecordBatch]) -> "JudgedRecords":
        names, person = self.judged.names, self.release.counted.person
        return records_of(blocks, names, self.release.domains, self.columns, by_person=person is not None)

    def declared_otherwise(self, suppression: Suppression) -> Iterator[str]:
        """Yield a sentence for each number of suppressed records or cells that differs from the declared one."""
        name, suppressed = self.configuration.id, suppression.suppressed
        records, cells = self.configuration.suppressed or 0, self.configuration.suppressed_cells
        if suppressed.records != records:
            why = "break its promise" if cells is None else "break its promise whatever cells are suppressed"
            yield f"{name} declares {records} records suppressed, but {suppressed.records} {why}"
        if suppressed.cells != (cells or 0):
            yield f"{name} declares {cells} cells suppressed, but its promise needs {suppressed.cells}"

    def broken(self, reached: Mapping[str, int | float], suppression: Suppression | None) -> Iterator[str]:
        """Yield a sentence for each promise that is broken or has no attribute to be measured on.

        What was only measured in the whole table need not hold without the records that are held back.
        """
        for name, limit in self.stated(suppression).items():
            if CRITERIA[name].is_measured and name not in reached:
                missing = f"sensitive attribute{' in order' if CRITERIA[name].needs_order else ''}"
                yield f"{self.configuration.id} promises {name}, but shares no {missing} to measure it on"
            elif name in reached and not holds(name, reached[name], limit):
                sign = CRITERIA[name].sign
                yield f"{self.configuration.id} promises {name} {sign} {limit:g}, but reaches {reached[name]:g}"

    def stated(self, suppression: Suppression | None) -> Mapping[str, int | float]:
        """Return what the release has to reach."""
        chosen = self.configuration
        return chosen.privacy if suppression is None or suppression.held is None else chosen.promised

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that decide whether it holds."""
        names = (name for one in self.roles for name in (*one.quasi_identifiers, *one.sensitive))
        return tuple(dict.fromkeys(names)) or (self.release.label,)


def _keys(codes: Places) -> pa.FixedSizeBinaryArray:
    """Return the bytes of each row of codes; without columns, all rows have the same bytes."""
    rows = np.zeros((len(codes), codes.shape[1] + 1), dtype=np.int32)
    rows[:, 1:] = codes
    width = rows.shape[1] * rows.itemsize
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), len(rows), [None, pa.py_buffer(rows)])


# Combinations of several blocks are merged once this many have accumulated.
_WAITING = 1 << 20


def codes_of(block: pa.RecordBatch, places: Sequence[int], domains: Sequence[Domain]) -> Places:
    """(records, columns) The places of the texts of these columns of a block in their domains."""
    columns = [places_of(block.column(n), domain.places) for n, domain in zip(places, domains, strict=True)]
    return np.stack(columns, axis=1) if columns else np.zeros((block.num_rows, 0), dtype=np.intp)


@dataclass(frozen=True, eq=False)
class JudgedRecords:
    """Distinct records of a release. `names`: (people,) The texts of the people with a name, by their numbers."""

    records: DistinctRecords
    names: tuple[str, ...] = ()

    def named(self, people: Places) -> pa.StringArray:
        """Return the texts of those of these people who have one."""
        return text_array([self.names[each] for each in people.tolist() if each < len(self.names) and self.names[each]])


def records_of(
    blocks: Iterable[pa.RecordBatch],
    names: Sequence[str],
    domains: Mapping[str, Domain],
    columns: Sequence[str],
    *,
    by_person: bool = False,
) -> JudgedRecords:
    """Return the combinations of values of one or more columns in blocks of the columns `names`.

    Memory holds combinations, never records; a combination may be in memory several times until merged.

    Args:
        by_person: Whether the last column says whose a record is, which tells combinations apart.
    """
    mine = [domains[name] for name in columns]
    places = [names.index(name) for name in columns]
    keys = [f"c{n}" for n in range(len(columns) + by_person)]
    counted: list[pa.Table] = []
    known: dict[str, int] = {}
    limit = _WAITING
    for block in blocks:
        codes = codes_of(block, places, mine)
        if by_person:
            codes = np.column_stack([codes, _people_of(block.column(len(names) - 1), known)])
        ones = np.ones(len(codes), dtype=np.int64)
        counted.append(_summed(pa.table([*codes.T, ones], names=[*keys, "n"]), keys))
        if sum(map(len, counted)) > limit:
            counted = [_summed(pa.concat_tables(counted), keys)]
            limit = max(_WAITING, 2 * len(counted[0]))
    whole = _summed(pa.concat_tables(counted), keys)
    codes = np.stack([whole.column(key).to_numpy() for key in keys], axis=1)
    records = DistinctRecords(tuple(columns), tuple(mine), codes[:, : len(columns)], whole.column("n").to_numpy())
    people = tuple(known)
    return JudgedRecords(records.of_people(codes[:, -1], people) if by_person else records, people)


def _people_of(texts: pa.Array, known: dict[str, int]) -> Places:
    """(records,) The number of the person of each record, among those `known`, which grow."""
    coded = texts.dictionary_encode()
    numbers = [known.setdefault(text, len(known)) for text in coded.dictionary.to_pylist()]
    people: Places = np.array(numbers, dtype=np.intp)[numbers_in(coded.indices)]
    return people


def _of_people(written: DistinctRecords, meant: DistinctRecords) -> DistinctRecords:
    """Return the records that were meant to be written, which people have, if they are those that were."""
    both = replace(
        written,
        domains=tuple(max(each, key=len) for each in zip(written.domains, meant.domains, strict=True)),
        codes=np.concatenate([written.codes, meant.codes]),
        counts=np.concatenate([written.counts, meant.counts]),
    )
    groups, size = class_of_each(both, {}, both.columns)
    many = len(written.counts)
    have, had = (np.bincount(groups[of], both.counts[of], size) for of in (slice(many), slice(many, None)))
    if not np.array_equal(have, had):
        raise OutputError("the masked table has other records than were written; was it changed?")
    return meant


def _summed(table: pa.Table, keys: list[str]) -> pa.Table:
    return table.group_by(keys, use_threads=False).aggregate([("n", "sum")]).rename_columns([*keys, "n"])


def records_in(written: Table, domains: Mapping[str, Domain], columns: Sequence[str]) -> DistinctRecords:
    """Return the combinations of values of one or more columns in a written table.

    Raises:
        OutputError: A column contains an unexpected value.
        TableError: The table cannot be read.
    """
    mine = [domains[name] for name in columns]
    combinations = written.combinations(columns)
    codes = [_read_back(combinations.column(n), domain) for n, domain in enumerate(mine)]
    return DistinctRecords(tuple(columns), tuple(mine), np.stack(codes, axis=1), combinations.column("n").to_numpy())


def _read_back(texts: pa.ChunkedArray, domain: Domain) -> Places:
    """(combinations,) The places of texts. Each value must have one text, so that any program counts these classes."""
    coded = texts.combine_chunks().dictionary_encode()
    keys = {key: place for place, key in enumerate(domain.keys)}
    places = {text: _place(text, domain, keys) for text in coded.dictionary.to_pylist()}
    if len(set(places.values())) < len(places):
        twice = next(text for place, text in zip(places.values(), places, strict=True) if domain.texts[place] != text)
        raise OutputError(
            f"the masked table spells a value in two ways, one of them {shortened(twice)}; was it changed?"
        )
    return places_of(coded, places)


def _place(text: str, domain: Domain, keys: Mapping[Key, int]) -> int:
    """Return the place of a text; a typed Parquet column may spell it differently, such as 5.0 for 5."""
    if text in domain.places:
        return domain.places[text]
    try:
        return keys[key_of(text, domain.value_type)]
    except (KeyError, UnmaskableValueError):
        raise OutputError(f"the masked table contains an unexpected value, {text!r}; was it changed?") from None
