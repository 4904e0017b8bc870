"""The intermediate table of the paper: records in clusters of equal size, before masking."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

import numpy as np
import pyarrow as pa
from numpy.random import Generator

from aegis_provider.errors import TableError, UnmaskableValueError, shortened
from aegis_provider.independence.clusters import balanced_clusters, quantile_clusters
from aegis_provider.independence.vectors import BoolArray, FloatArray, IntArray, distinct_rows
from aegis_provider.processes import Progress
from aegis_provider.table import Table
from aegis_provider.table.values import MISSING, Domain, Key, ValueType, infer_type


@dataclass(frozen=True)
class Extent:
    """The values of a column in a cluster.

    Attributes:
        values: The smallest and the largest of numbers and dates; otherwise all values that occur. They are exact, and
            written or printed only on request.
        missing: The number of the cluster's records without a value.
        interval: Two ends, neither a value of the table, between which the values lie; an end is `None` if the interval
            is open there. The interval itself is `None` if it would reveal too much or nothing: for values without
            order, for several columns, and for few records.
    """

    attribute: str
    is_ordered: bool
    values: tuple[str, ...]
    distinct: int
    missing: int
    interval: tuple[str | None, str | None] | None = None

    def in_words(self) -> str:
        """Describe what may be published: an interval or a number of values, and the number missing."""
        match self.interval:
            case None:
                told = f"{self.distinct} value{'s' * (self.distinct != 1)}"
            case None, None:
                told = "all values"
            case None, below:
                told = f"below {below}"
            case above, None:
                told = f"above {above}"
            case above, below:
                told = f"{above} to {below}"
        return f"{told}; {self.missing} missing" if self.missing else told


@dataclass(frozen=True)
class Cluster:
    """The records published with the same cluster number."""

    number: int
    records: int
    extents: tuple[Extent, ...]


_ORDERED = (ValueType.INTEGER, ValueType.NUMBER, ValueType.DATE)

#: Minimum records for showing an interval, which would nearly reveal the exact values of fewer.
_FEWEST = 5


@dataclass(frozen=True, eq=False)
class Column:
    """A column of n records, in memory.

    Two texts of one number, "1.0" and "1.00", are two values here, since the texts are published. `texts`: the distinct
    texts, `""` if missing; `codes`: (n,) The place of each record's text among them.
    """

    name: str
    texts: pa.StringArray
    codes: IntArray


def read_columns(
    table: Table, names: Sequence[str], progress: Progress = lambda _done, _records: None
) -> tuple[Column, ...]:
    """Read these columns of all records, in the table's order.

    Raises:
        TableError: As in `Table.batches`.
    """
    chunks: list[list[pa.Array]] = [[] for _ in names]
    done = 0
    records = table.records()
    for batch in table.batches(names):
        for mine, texts in zip(chunks, batch.columns, strict=True):
            mine.append(texts.dictionary_encode())
        done += batch.num_rows
        progress(done, records)
    columns = []
    for name, mine in zip(names, chunks, strict=True):
        empty = [pa.array([], pa.string()).dictionary_encode()]
        whole = pa.chunked_array(mine or empty).unify_dictionaries().combine_chunks()
        columns.append(Column(name, whole.dictionary, whole.indices.to_numpy().astype(np.int64)))
    return tuple(columns)


@dataclass(frozen=True, eq=False)
class Basis:
    """A column from which the clusters are made. `places`: (n,) The place of each record's value in the domain."""

    column: Column
    domain: Domain
    places: IntArray

    @classmethod
    def of(cls, column: Column, value_type: ValueType | None = ValueType.STRING) -> "Basis":
        """Return the basis for a column.

        `value_type`: the type of the values, by default one without order; `None` infers numbers or dates from the
        texts.

        Raises:
            TableError: A text is not of the type.
        """
        texts = column.texts.to_pylist()
        try:
            domain = Domain.of(texts, value_type or _ordered_type(column.name, texts))
        except UnmaskableValueError as error:
            raise TableError(f"column {column.name!r}: {error}, as its type requires") from error
        places = np.array([domain.places[text] for text in texts], dtype=np.int64)
        return cls(column, domain, places[column.codes])

    @property
    def is_ordered(self) -> bool:
        """Whether its values are numbers or dates, so that intervals are meaningful."""
        return self.domain.value_type in _ORDERED

    def features(self, records: BoolArray) -> Iterator[IntArray | FloatArray]:
        """(kept,) Yield the features that distinguish its records: numbers or codes.

        A missing number takes the mean of the others, and an additional code marks it.

        Raises:
            TableError: A number exceeds the doubles, and so has no distance from others.
        """
        places = self.places[records]
        if not self.is_ordered:
            yield places
            return
        days = (key.toordinal() if isinstance(key, date) else key for key in self.domain.keys)
        of_value = np.array([np.nan if day is None else float(day) for day in days])
        for place in np.flatnonzero(np.isinf(of_value))[:1]:
            text = shortened(self.domain.texts[place])
            raise TableError(f"column {self.column.name!r}: {text} is too large for clusters of several columns")
        numbers = of_value[places]
        missing = np.isnan(numbers)
        yield np.where(missing, numbers[~missing].mean() if (~missing).any() else 0.0, numbers)
        if missing.any():
            yield missing.astype(np.int64)

    def extent(self, records: BoolArray, *, in_intervals: bool) -> Extent:
        """Return the extent of the column in these records; `in_intervals` says whether they form an interval of it."""
        places, counts = np.unique(self.places[records], return_counts=True)
        counted = {self.domain.texts[place]: int(n) for place, n in zip(places, counts, strict=True)}
        missing = counted.pop(MISSING, 0)
        texts = tuple(counted)
        values = tuple(dict.fromkeys((texts[0], texts[-1]))) if self.is_ordered and texts else texts
        told = in_intervals and len(texts) > 0 and sum(counted.values()) >= _FEWEST
        interval = None
        if told:  # each end is halfway to the table's next value, or open without one
            keys, least = self.domain.keys, int(MISSING in self.domain.texts)  # missing values come first
            first, last = self.domain.places[values[0]], self.domain.places[values[-1]]
            before = _between(keys[first - 1], keys[first]) if first > least else None
            after = _between(keys[last], keys[last + 1]) if last + 1 < len(keys) else None
            interval = before, after
        return Extent(self.column.name, self.is_ordered, values, len(texts), missing, interval)


def _ordered_type(name: str, texts: Sequence[str]) -> ValueType:
    """Return the type of a column of numbers or dates."""
    value_type = infer_type(texts)
    if value_type not in _ORDERED:
        odd = next((text for text in texts if text != MISSING and infer_type([text]) not in _ORDERED), None)
        example = "it has no value" if odd is None else f"{shortened(odd)} is neither"
        raise TableError(f"column {name!r}: only numbers and dates have an order, but {example}")
    return value_type


def _between(low: Key, high: Key) -> str:
    """Return the value halfway between two values, as text; between two dates, it has a time of day."""
    if isinstance(low, date):
        middle: datetime = datetime(low.year, low.month, low.day, 1) + (high - low) / 2  # noqa: DTZ001 - dates have no time zone
        return middle.isoformat(sep=" ", timespec="minutes")
    return str((low + high) / 2)


@dataclass(frozen=True, eq=False)
class ClusteredTable:
    """The columns to hide, the columns from which the clusters are made, and the cluster of each record.

    Attributes:
        columns: The columns to hide, A in the paper.
        basis: The columns from which the clusters are made, B in the paper.
        kept: (n,) Whether each record was kept, not dropped.
        cluster_of_record: (kept,) The cluster of each record, from 0.
    """

    table: Table
    columns: tuple[Column, ...]
    basis: tuple[Basis, ...]
    kept: BoolArray
    cluster_of_record: IntArray

    @classmethod
    def of(
        cls,
        table: Table,
        hide: Sequence[str],
        from_: Sequence[str],
        clusters: int,
        random: Generator,
        progress: Progress,
        types: Mapping[str, ValueType | None] | None = None,
    ) -> "ClusteredTable":
        """Read the columns, and drop records until the clusters can be of equal size.

        `types`: the types of columns in `from_`, as for `Basis.of`; values of other columns have no order.

        Raises:
            TableError: There are fewer records than clusters, or a value is not of the type of its column.
        """
        columns = read_columns(table, [*hide, *from_], progress)
        typed = types or {}
        basis = tuple(Basis.of(column, typed.get(column.name, ValueType.STRING)) for column in columns[len(hide) :])
        records = len(columns[0].codes)
        if records < clusters:
            raise TableError(
                f"{table.name}: {clusters} clusters need at least as many records, but there are {records}"
            )
        kept = np.ones(records, dtype=np.bool_)
        kept[random.choice(records, records % clusters, replace=False)] = False
        if len(basis) == 1 and basis[0].is_ordered:
            # Only the order matters, and the places in the domain keep it exactly; missing values come first.
            numbers = quantile_clusters(basis[0].places[kept].astype(np.float64), clusters, random)
        else:
            numbers = balanced_clusters([each for basi in basis for each in basi.features(kept)], clusters, random)
        return cls(table, columns[: len(hide)], basis, kept, numbers)

    @property
    def codes(self) -> IntArray:
        """(kept, A) The place of each value in the texts of its column."""
        return np.stack([column.codes[self.kept] for column in self.columns], axis=1)

    def counts(self) -> IntArray:
        """(vectors, clusters) Counts of records for each combination of values of A that occurs, before masking."""
        values, vectors = distinct_rows(self.codes)
        counts = np.zeros((len(values), int(self.cluster_of_record.max()) + 1), dtype=np.int64)
        np.add.at(counts, (vectors, self.cluster_of_record), 1)
        return counts

    def clusters(self) -> tuple[Cluster, ...]:
        """Return the clusters with their extents."""
        clusters = []
        alone = len(self.basis) == 1 and self.basis[0].is_ordered
        for number in range(int(self.cluster_of_record.max()) + 1):
            records = np.zeros(len(self.kept), dtype=np.bool_)
            records[self.kept] = self.cluster_of_record == number
            extents = tuple(basi.extent(records, in_intervals=alone) for basi in self.basis)
            clusters.append(Cluster(number + 1, int(np.count_nonzero(records)), extents))
        return tuple(clusters)

    def refuse_star(self, star: str) -> None:
        """Refuse a star that is also a value to hide, since it would be indistinguishable from a masked value.

        Raises:
            TableError: A column to hide has the value.
        """
        for column in self.columns:
            if star in column.texts.to_pylist():
                where = self.table.located(column.name, star)
                raise TableError(
                    f"{where}: {column.name} is {star!r}, which marks masked values; choose another --star"
                )
