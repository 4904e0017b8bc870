"""The privacy that a configuration promises: the records that break it, and what the written table reaches."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aegis_provider.counting.counted_table import DistinctRecords
from aegis_provider.counting.counts import Places
from aegis_provider.errors import OutputError, UnmaskableValueError
from aegis_provider.plan.model import Configuration, Plan
from aegis_provider.privacy import (
    CRITERIA,
    Classes,
    breaks,
    class_of_each,
    classes_of,
    holds,
    measure_privacy,
)
from aegis_provider.release.blocks import Release, places_of
from aegis_provider.table import Table
from aegis_provider.table.values import Domain, Key, key_of


@dataclass(frozen=True, eq=False)
class Suppression:
    """The records that a release suppresses: those of the equivalence classes that break its promise.

    Attributes:
        release: The release.
        quasi_identifiers: The quasi-identifiers that it shares.
        records: The number of suppressed records.
        broken: The keys of the classes that break the promise.
        before: All classes, including the suppressed records.
    """

    release: Release
    quasi_identifiers: tuple[str, ...]
    records: int
    broken: pa.FixedSizeBinaryArray
    before: Classes

    def kept(self, blocks: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the blocks of the release without the suppressed records.

        Raises:
            TableError: The number of records left is not as counted; a database may return records in another order.
        """
        expected = self.release.counted.records - self.records
        for block in blocks:
            left = block.filter(pc.invert(self.leaves_out(block)))
            expected -= left.num_rows
            yield left
        if expected:
            raise self.release.changed()

    def leaves_out(self, block: pa.RecordBatch) -> pa.BooleanArray:
        """(records,) Whether each record of a block of the release is suppressed."""
        names, domains = self.release.names, self.release.domains
        places = [names.index(name) for name in self.quasi_identifiers]
        mine = [domains[name] for name in self.quasi_identifiers]
        return pc.is_in(_keys(codes_of(block, places, mine)), value_set=self.broken)


@dataclass(frozen=True, eq=False)
class Promise:
    """The promise of a configuration on its release.

    Attributes:
        release: The release.
        configuration: The configuration.
        quasi_identifiers: The quasi-identifiers that the release shares.
        sensitive: The sensitive attributes that the release shares.
    """

    release: Release
    configuration: Configuration
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]

    @classmethod
    def of(cls, release: Release, plan: Plan, configuration: Configuration) -> "Promise":
        """Return the promise; dropped attributes are neither quasi-identifiers nor sensitive in the release."""
        shared = set(release.names)
        quasi_identifiers = tuple(name for name in plan.quasi_identifiers if name in shared)
        sensitive = tuple(name for name in plan.sensitive if name in shared)
        return cls(release, configuration, quasi_identifiers, sensitive)

    @property
    def judged(self) -> Release:
        """The release restricted to the columns that decide whether the promise holds."""
        return self.release.only(self._columns)

    def suppression(self, blocks: Iterable[pa.RecordBatch]) -> Suppression:
        """Return the records in the blocks of `judged` that break the promise.

        Memory holds only the distinct combinations of values, never the records.
        """
        records = records_of(blocks, self.judged.names, self.release.domains, self._columns)
        classes = self._classes(records)
        broken = breaks(classes, self.configuration.privacy)
        group, _ = class_of_each(records, {}, self.quasi_identifiers)
        codes = records.codes[broken[group], : len(self.quasi_identifiers)]
        left_out = int(classes.sizes[broken].sum())
        return Suppression(self.release, self.quasi_identifiers, left_out, _keys(codes).unique(), classes)

    def reached(self, written: Table, before: Classes | None) -> dict[str, int | float]:
        """Return the privacy that the written table reaches, by name.

        Its classes are compared with the whole table, including the suppressed records.

        Args:
            written: The written table.
            before: The classes with the suppressed records; `None` if no record was suppressed.

        Raises:
            OutputError: The table differs from what was written.
            TableError: The table cannot be read.
        """
        classes = self._classes(records_in(written, self.release.domains, self._columns))
        if before is not None:
            whole = {name: each.whole for name, each in before.sensitive.items()}
            counts = {name: replace(each, whole=whole[name]) for name, each in classes.sensitive.items()}
            classes = Classes(classes.sizes, counts)
        return measure_privacy(classes)

    def declared_otherwise(self, suppression: Suppression) -> Iterator[str]:
        """Yield a sentence if the number of records that break the promise differs from the plan's declaration."""
        name, declared = self.configuration.id, self.configuration.suppressed
        if suppression.records != declared:
            yield f"{name} declares {declared} records suppressed, but {suppression.records} break its promise"

    def broken(self, reached: Mapping[str, int | float]) -> Iterator[str]:
        """Yield a sentence for each promise that is not reached or that has no attribute to be measured on."""
        for name, limit in self.configuration.privacy.items():
            if CRITERIA[name].is_measured and name not in reached:
                yield f"{self.configuration.id} promises {name}, but shares no sensitive attribute to measure it on"
            elif name in reached and not holds(name, reached[name], limit):
                sign = CRITERIA[name].sign
                yield f"{self.configuration.id} promises {name} {sign} {limit:g}, but reaches {reached[name]:g}"

    @property
    def _columns(self) -> tuple[str, ...]:
        return (*self.quasi_identifiers, *self.sensitive) or (self.release.label,)

    def _classes(self, records: DistinctRecords) -> Classes:
        return classes_of(records, {}, self.quasi_identifiers, self.sensitive)


def _keys(codes: Places) -> pa.FixedSizeBinaryArray:
    """Return the bytes of each row of codes; without columns, all rows have the same bytes."""
    rows = np.zeros((len(codes), codes.shape[1] + 1), dtype=np.int32)
    rows[:, 1:] = codes
    width = rows.shape[1] * rows.itemsize
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), len(rows), [None, pa.py_buffer(rows)])


# Equal combinations from several blocks are merged only when this many have accumulated.
_WAITING = 1 << 20


def codes_of(block: pa.RecordBatch, places: Sequence[int], domains: Sequence[Domain]) -> Places:
    """(records, columns) The places of the texts of these columns of a block in their domains."""
    columns = [places_of(block.column(n), domain.places) for n, domain in zip(places, domains, strict=True)]
    return np.stack(columns, axis=1) if columns else np.zeros((block.num_rows, 0), dtype=np.intp)


def records_of(
    blocks: Iterable[pa.RecordBatch], names: Sequence[str], domains: Mapping[str, Domain], columns: Sequence[str]
) -> DistinctRecords:
    """Return the combinations of values of one or more columns in blocks of the columns `names`.

    Memory holds combinations, never the records. For a while, a combination may be held several times.
    """
    mine = [domains[name] for name in columns]
    places = [names.index(name) for name in columns]
    keys = [f"c{n}" for n in range(len(columns))]
    counted: list[pa.Table] = []
    limit = _WAITING
    for block in blocks:
        codes = codes_of(block, places, mine)
        ones = np.ones(len(codes), dtype=np.int64)
        counted.append(_summed(pa.table([*codes.T, ones], names=[*keys, "n"]), keys))
        if sum(map(len, counted)) > limit:
            counted = [_summed(pa.concat_tables(counted), keys)]
            limit = max(_WAITING, 2 * len(counted[0]))
    whole = _summed(pa.concat_tables(counted), keys)
    codes = np.stack([whole.column(key).to_numpy() for key in keys], axis=1)
    return DistinctRecords(tuple(columns), tuple(mine), codes, whole.column("n").to_numpy())


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
    coded = texts.combine_chunks().dictionary_encode()
    keys = {key: place for place, key in enumerate(domain.keys)}
    return places_of(coded, {text: _place(text, domain, keys) for text in coded.dictionary.to_pylist()})


def _place(text: str, domain: Domain, keys: Mapping[Key, int]) -> int:
    """Return the place of a text, which a typed column of Parquet may spell differently, such as 5.0 for 5."""
    if text in domain.places:
        return domain.places[text]
    try:
        return keys[key_of(text, domain.value_type)]
    except (KeyError, UnmaskableValueError):
        raise OutputError(f"the masked table contains an unexpected value, {text!r}; was it changed?") from None
