"""The intermediate table of the paper: its records in clusters of equal size, before anything is masked."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

import numpy as np
import pyarrow as pa
from numpy.random import Generator

from aegis_provider.errors import TableError, UnmaskableValueError, shortened
from aegis_provider.independence.clusters import balanced_clusters, quantile_clusters
from aegis_provider.independence.model import Cluster, Extent
from aegis_provider.independence.vectors import BoolArray, FloatArray, IntArray, distinct_rows
from aegis_provider.progress import Progress
from aegis_provider.table import Table
from aegis_provider.table.values import MISSING, Domain, Key, ValueType, infer_type

_ORDERED = (ValueType.INTEGER, ValueType.NUMBER, ValueType.DATE)

#: Of fewer records an interval would say nearly exactly what they have.
_FEWEST = 5


@dataclass(frozen=True, eq=False)
class Column:
    """A column of n records, in memory.

    Two texts of one number, "1.0" and "1.00", are two values here: what is published is texts.

    Attributes:
        name: As the table has it.
        texts: Those that occur, each once, `""` if missing.
        codes: (n,) the place of each record's text among them.
    """

    name: str
    texts: pa.StringArray
    codes: IntArray

    def part(self, start: int, records: int) -> pa.StringArray:
        """The texts of that many records from `start` on; fewer at the end."""
        return self.texts.take(pa.array(self.codes[start : start + records]))


def read_columns(
    table: Table, names: Sequence[str], progress: Progress = lambda _done, _records: None
) -> tuple[Column, ...]:
    """These columns of all records, in the table's order. `progress` is told of the records that are read.

    Raises:
        TableError: As `Table.batches` does.
    """
    chunks: list[list[pa.Array]] = [[] for _ in names]
    done = 0
    records = table.records()
    for batch in table.batches(names):
        for mine, texts in zip(chunks, batch.columns, strict=True):
            mine.append(texts.dictionary_encode())
        done += batch.num_rows
        progress(done, records)
    return tuple(_column(name, mine) for name, mine in zip(names, chunks, strict=True))


def _column(name: str, chunks: Sequence[pa.DictionaryArray]) -> Column:
    if not chunks:
        return Column(name, pa.array([], pa.string()), np.zeros(0, dtype=np.int64))
    whole = pa.chunked_array(chunks).unify_dictionaries().combine_chunks()
    return Column(name, whole.dictionary, whole.indices.to_numpy().astype(np.int64))


@dataclass(frozen=True, eq=False)
class Basis:
    """A column that the clusters are made of.

    Attributes:
        column: As it was read.
        domain: Its values, typed.
        places: (n,) the place of each record's value in the domain.
    """

    column: Column
    domain: Domain
    places: IntArray

    @classmethod
    def of(cls, column: Column, value_type: ValueType | None = ValueType.STRING) -> "Basis":
        """The column, of values without order unless the type says otherwise; `None`: numbers or dates, by the texts.

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
        """Whether its values are numbers or dates, so that intervals of them mean something."""
        return self.domain.value_type in _ORDERED

    def features(self, records: BoolArray) -> Iterator[IntArray | FloatArray]:
        """(kept,) what tells its records apart: numbers, or codes.

        A missing number stands at the mean of the others, and is told from them by a code of its own.

        Raises:
            TableError: A number is beyond those of doubles, and so has no distance from others.
        """
        places = self.places[records]
        if not self.is_ordered:
            yield places
            return
        of_value = np.array([np.nan if key is None else _number(key) for key in self.domain.keys])
        for place in np.flatnonzero(np.isinf(of_value))[:1]:
            text = shortened(self.domain.texts[place])
            raise TableError(f"column {self.column.name!r}: {text} is too large for clusters of several columns")
        numbers = of_value[places]
        missing = np.isnan(numbers)
        yield np.where(missing, numbers[~missing].mean() if (~missing).any() else 0.0, numbers)
        if missing.any():
            yield missing.astype(np.int64)

    def extent(self, records: BoolArray, *, in_intervals: bool) -> Extent:
        """What these records hold of the column; `in_intervals`: whether they are those of an interval of it."""
        places, counts = np.unique(self.places[records], return_counts=True)
        counted = {self.domain.texts[place]: int(n) for place, n in zip(places, counts, strict=True)}
        missing = counted.pop(MISSING, 0)
        texts = tuple(counted)
        values = tuple(dict.fromkeys((texts[0], texts[-1]))) if self.is_ordered and texts else texts
        told = in_intervals and len(texts) > 0 and sum(counted.values()) >= _FEWEST
        interval = self._interval(values) if told else None
        return Extent(self.column.name, self.is_ordered, values, len(texts), missing, interval)

    def _interval(self, values: tuple[str, ...]) -> tuple[str | None, str | None]:
        """From below the first to above the last of the values: halfway to the next of the table, if there is one."""
        keys, least = self.domain.keys, int(MISSING in self.domain.texts)  # what is missing comes first
        first, last = self.domain.places[values[0]], self.domain.places[values[-1]]
        before = _between(keys[first - 1], keys[first]) if first > least else None
        after = _between(keys[last], keys[last + 1]) if last + 1 < len(keys) else None
        return before, after


def _ordered_type(name: str, texts: Sequence[str]) -> ValueType:
    """The type of numbers or dates.

    Raises:
        TableError: A text is neither.
    """
    value_type = infer_type(texts)
    if value_type not in _ORDERED:
        odd = next((text for text in texts if text != MISSING and infer_type([text]) not in _ORDERED), None)
        example = "it has no value" if odd is None else f"{shortened(odd)} is neither"
        raise TableError(f"column {name!r}: only numbers and dates have an order, but {example}")
    return value_type


def _between(low: Key, high: Key) -> str:
    """Halfway between two values, which is neither: of dates an hour of a day."""
    if isinstance(low, date):
        middle: datetime = datetime(low.year, low.month, low.day, 1) + (high - low) / 2  # noqa: DTZ001 - dates have no time zone
        return middle.isoformat(sep=" ", timespec="minutes")
    return str((low + high) / 2)


def _number(key: object) -> float:
    """Of a `Decimal`; of a date its day."""
    return float(key.toordinal() if hasattr(key, "toordinal") else key)  # type: ignore[arg-type] # a Decimal


@dataclass(frozen=True, eq=False)
class ClusteredTable:
    """The columns to hide and those that the clusters are made of, and which record is in which cluster.

    Attributes:
        table: Where the columns were read.
        columns: The columns to hide, A in the paper.
        basis: The columns that the clusters are made of, B in the paper.
        kept: (n,) the records that were not dropped.
        cluster_of_record: (kept,) from 0.
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
        """Reads the columns, and drops records until the clusters can be equal.

        Args:
            table: Where they are read.
            hide: The columns to hide.
            from_: Those that the clusters are made of.
            clusters: How many to make.
            random: What the draws come from.
            progress: Is told of the records that are read.
            types: Of columns in `from_`, as `Basis.of` takes them; others have values without order.

        Raises:
            TableError: There are fewer records than clusters, or a value is not of the type of its column.
        """
        columns = read_columns(table, [*hide, *from_], progress)
        typed = types or {}
        basis = tuple(Basis.of(each, typed.get(each.name, ValueType.STRING)) for each in columns[len(hide) :])
        kept = _kept(table, len(columns[0].codes), clusters, random)
        return cls(table, columns[: len(hide)], basis, kept, _cluster_of_record(basis, kept, clusters, random))

    @property
    def codes(self) -> IntArray:
        """(kept, A) the place of each value in the texts of its column."""
        return np.stack([column.codes[self.kept] for column in self.columns], axis=1)

    @property
    def dropped(self) -> int:
        """How many records are not kept."""
        return int(np.count_nonzero(~self.kept))

    def counts(self) -> IntArray:
        """(vectors, clusters) how many records have each combination of values of A that occurs, before masking."""
        values, vectors = distinct_rows(self.codes)
        counts = np.zeros((len(values), int(self.cluster_of_record.max()) + 1), dtype=np.int64)
        np.add.at(counts, (vectors, self.cluster_of_record), 1)
        return counts

    def clusters(self) -> tuple[Cluster, ...]:
        """What each cluster holds."""
        return tuple(self._cluster(number) for number in range(int(self.cluster_of_record.max()) + 1))

    def _cluster(self, number: int) -> Cluster:
        records = np.zeros(len(self.kept), dtype=np.bool_)
        records[self.kept] = self.cluster_of_record == number
        alone = len(self.basis) == 1 and self.basis[0].is_ordered
        extents = tuple(each.extent(records, in_intervals=alone) for each in self.basis)
        return Cluster(number + 1, int(np.count_nonzero(records)), extents)

    def refuse_star(self, star: str) -> None:
        """Refuses a star that is a value to hide: nobody could tell it from a masked one.

        Raises:
            TableError: A column to hide has the value.
        """
        for column in self.columns:
            if star in column.texts.to_pylist():
                where = self.table.located(column.name, star)
                raise TableError(
                    f"{where}: {column.name} is {star!r}, which marks masked values; choose another --star"
                )


def _kept(table: Table, records: int, clusters: int, random: Generator) -> BoolArray:
    """All but the fewest that must go for the clusters to be equal, drawn at random."""
    if records < clusters:
        raise TableError(f"{table.name}: {clusters} clusters need at least as many records, but there are {records}")
    kept = np.ones(records, dtype=np.bool_)
    kept[random.choice(records, records % clusters, replace=False)] = False
    return kept


def _cluster_of_record(basis: Sequence[Basis], records: BoolArray, clusters: int, random: Generator) -> IntArray:
    """(kept,) the cluster of each record that is kept, from 0; all clusters have the same number of records.

    Of one column of numbers or dates the clusters are intervals, in which a missing value comes before all others;
    of several, or of others, those of a balanced k-means.
    """
    if len(basis) == 1 and basis[0].is_ordered:
        # Only the order matters, which the places in the domain have exactly.
        return quantile_clusters(basis[0].places[records].astype(np.float64), clusters, random)
    features = [feature for each in basis for feature in each.features(records)]
    return balanced_clusters(features, clusters, random)
