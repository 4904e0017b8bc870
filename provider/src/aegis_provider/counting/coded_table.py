"""The records of a table as small integers, stored by the engine, from which any number of pairs is counted."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from math import prod
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.counting.counts import Counts, Partition, Places
from aegis_provider.counting.pair_cells import PairCells
from aegis_provider.errors import TableError
from aegis_provider.table import Table
from aegis_provider.table.arrays import number_array, numbers_in, text_array
from aegis_provider.table.engine import Engine, Expression, counts_of_sets, ibis
from aegis_provider.table.reading import Integers
from aegis_provider.table.values import MISSING, Domain

# Every lookup has its own buffers, and all lookups of a step are open at once.
_LOOKUPS_PER_STEP = 60

# The most pairs that a server engine counts at once: it holds the groups of all in memory.
_PAIRS_PER_READING = 30

# The records per batch of codes from DuckDB, which are counted here faster than by any query, and the most cells
# counted at once; larger tables are mostly empty.
_RECORDS_PER_BATCH = 1 << 17
_CELLS_PER_READING = 1 << 23

# Up to this many readings, a temporary table of the codes would cost more than it saves.
_LOOKED_UP_AGAIN = 3

# The number of the label among the columns, above those of all attributes.
_LABEL = 1_000_000

Grouped: TypeAlias = tuple[int, int]
"""The place of an attribute in the plan, and the place of a partition among those given for it."""

Two: TypeAlias = tuple[Grouped, Grouped]


@dataclass(frozen=True, eq=False)
class CodedTable:
    """A table `rows` with a column of codes for each partition of the chosen attributes, and for the label.

    `partitions`: partitions of an attribute's values, by its place in the plan. `labels`: the size of the label's
    domain. `name`: the table's, for messages.
    """

    engine: Engine
    rows: Expression
    partitions: Mapping[int, Sequence[Partition]]
    labels: int
    records: int
    name: str

    @classmethod
    def of(cls, counted: CountedTable, label: str, partitions: Mapping[int, Sequence[Partition]]) -> "CodedTable":
        """Look up the groups of these attributes' values for each record, 60 attributes at a time.

        DuckDB writes to disk whatever exceeds the memory limit.

        Raises:
            TableError: The table cannot be read.
        """
        table, labels = counted.table, len(counted.label)
        columns = [
            _Column(each, counted.attributes[each].attribute.name, counted.attributes[each].domain, of)
            for each, of in partitions.items()
        ]
        columns.append(_Column(_LABEL, label, counted.label, [Partition.identity(labels)]))
        keys = table.keys([column.name for column in columns])
        rows = keys.select(**{column.key: keys[f"v{n}"] for n, column in enumerate(columns)})
        for start in range(0, len(columns), _LOOKUPS_PER_STEP):
            rows = _looked_up(table, rows, columns[start : start + _LOOKUPS_PER_STEP])
            if start + _LOOKUPS_PER_STEP < len(columns):
                rows = table.engine.keep(rows)
        return cls(table.engine, rows, partitions, labels, counted.records, table.name)

    def counts(self, pairs: Sequence[Two]) -> Iterator[PairCells]:
        """Yield for each pair the joint counts of its groups, by label value.

        Raises:
            TableError: The records are not those that were counted.
        """
        readings = list(self._readings(pairs, self.labels))
        coded = self._stored_for(readings)
        for is_here, together in readings:
            if is_here:
                tables = coded.tables(together, with_label=True)
                for table, shape in zip(tables, self._shapes(together), strict=True):
                    cells = np.flatnonzero(table)
                    both, label = np.divmod(cells, self.labels)
                    yield PairCells(*np.divmod(both, shape[1]), label, table[cells], (*shape, self.labels))
            else:
                yield from coded.counts_by_engine(together)

    def joints(self, pairs: Sequence[Two]) -> list[Counts]:
        """Return for each pair (groups, groups) the joint counts of its groups, all in memory.

        Raises:
            TableError: The records are not those that were counted.
        """
        joints: list[Counts] = []
        readings = list(self._readings(pairs, 1))
        coded = self._stored_for(readings)
        for is_here, together in readings:
            if is_here:
                both = zip(coded.tables(together, with_label=False), self._shapes(together), strict=True)
                joints += [table.reshape(shape) for table, shape in both]
            else:
                joints += [each.joint() for each in coded.counts_by_engine(together)]
        return joints

    def codes(self, columns: Sequence[Grouped]) -> Iterator[dict[Grouped, NDArray[np.signedinteger[Any]]]]:
        """Yield the codes of these columns, some thousand records at a time, in any order of the records.

        Raises:
            TableError: The records are not those that were counted.
        """
        names = {fromkey: _code(*fromkey) for fromkey in dict.fromkeys(columns)}
        records = 0
        for batch in self.engine.stream(self.rows.select(*names.values()), _RECORDS_PER_BATCH):
            records += len(batch)
            if records > self.records or any(column.null_count for column in batch.columns):
                raise self._changed()
            yield {each: numbers_in(batch[name]) for each, name in names.items()}
        if records != self.records:
            raise self._changed()

    def _stored_for(self, readings: Sequence[tuple[bool, Sequence[Two]]]) -> "CodedTable":
        """Return the codes in a temporary table, unless looking them up again for each reading is cheaper."""
        if len(readings) <= _LOOKED_UP_AGAIN and all(is_here for is_here, _ in readings):
            return self
        return replace(self, rows=self.engine.keep(self.rows))

    def tables(self, pairs: Sequence[Two], *, with_label: bool) -> list[Counts]:
        """Return (groups * groups * labels,) the counts of each pair, by one reading of the codes.

        Raises:
            TableError: The records are not those that were counted.
        """
        labels, label = (self.labels, (_LABEL, 0)) if with_label else (1, None)
        tables = [np.zeros(prod(shape) * labels, dtype=np.int64) for shape in self._shapes(pairs)]
        columns = [each for pair in pairs for each in pair]
        for batch in self.codes([*columns, *filter(None, [label])]):
            first = {each: codes.astype(np.intp) for each, codes in batch.items()}
            second = {
                column: first[column] if label is None else first[column] * labels + first[label] for column in columns
            }
            for table, (one, two) in zip(tables, pairs, strict=True):
                _add(table, first[one] * (self._size(two) * labels) + second[two])
        return tables

    def _readings(self, pairs: Sequence[Two], labels: int) -> Iterator[tuple[bool, list[Two]]]:
        """Yield the pairs that are counted by one reading, and whether they are counted here."""
        cells = [prod(shape) * labels for shape in self._shapes(pairs)]
        here = [self.engine.is_duckdb and cell <= _CELLS_PER_READING for cell in cells]
        before = zip(here, accumulate(cells), strict=True)
        places = [
            end // _CELLS_PER_READING if is_here else place // _PAIRS_PER_READING
            for place, (is_here, end) in enumerate(before)
        ]
        for (is_here, _), group in groupby(zip(here, places, pairs, strict=True), lambda each: each[:2]):
            yield is_here, [pair for _, _, pair in group]

    def _shapes(self, pairs: Sequence[Two]) -> list[tuple[int, int]]:
        return [(self._size(first), self._size(second)) for first, second in pairs]

    def _size(self, grouped: Grouped) -> int:
        attribute, partition = grouped
        return self.partitions[attribute][partition].size

    def _changed(self) -> TableError:
        return TableError(f"{self.name}: changed while it was read; summarize again")

    def counts_by_engine(self, pairs: Sequence[Two]) -> Iterator[PairCells]:
        """Yield the counts by one query of the engine, without empty cells.

        Raises:
            TableError: The records are not those that were counted.
        """
        sets = [(_code(*first), f"{_code(*second)}_label") for first, second in pairs]
        used = self.rows.select(**self._codes(pairs))
        grouped = self.engine.fetch(counts_of_sets(self.engine, used, sets, lambda _name, key: key))
        place, n = (numbers_in(grouped[name]) for name in ("place", "n"))
        if grouped["first"].null_count or grouped["second"].null_count or int(n.sum()) != len(pairs) * self.records:
            raise self._changed()
        first, second = (grouped[name].to_numpy() for name in ("first", "second"))
        for which, (one, two) in enumerate(pairs):
            mine = place == which
            sizes = self._size(one), self._size(two)
            groups, labels = np.divmod(second[mine].astype(np.intp), self.labels)
            yield PairCells(
                first[mine].astype(np.intp), groups, labels, n[mine].astype(np.int64), (*sizes, self.labels)
            )

    def _codes(self, pairs: Sequence[Two]) -> dict[str, Expression]:
        """Return the code of each first group, and of each second group together with the label."""
        used = {_code(*each) for pair in pairs for each in pair} | {_code(_LABEL, 0)}
        wide = {name: self.rows[name].cast("int64") for name in used}
        codes = {_code(*first): wide[_code(*first)] for first, _ in pairs}
        both = {
            f"{_code(*second)}_label": wide[_code(*second)] * self.labels + wide[_code(_LABEL, 0)]
            for _, second in pairs
        }
        return codes | both


@dataclass(frozen=True, eq=False)
class _Column:
    """A column to code: its number here, its name and domain, and the partitions of its values."""

    number: int
    name: str
    domain: Domain
    partitions: Sequence[Partition]

    @property
    def key(self) -> str:
        return f"t{self.number}"


def _add(table: Counts, cells: Places) -> None:
    """Count one more record in each of these cells."""
    if table.size <= cells.size:
        table += np.bincount(cells, minlength=table.size)
    else:
        np.add.at(table, cells, 1)


def _code(number: int, partition: int) -> str:
    return f"k{number}_{partition}"


def _looked_up(table: Table, rows: Expression, now: Sequence[_Column]) -> Expression:
    """Return the rows with the codes of these columns instead of their keys."""
    codes = {}
    joined = rows
    for column in now:
        lookup = table.engine.lookup(_lookup(table, column))
        joined = joined.left_join(lookup, joined[column.key] == lookup[f"key{column.number}"])
    for column in now:
        missing = column.domain.places.get(MISSING)
        for n, each in enumerate(column.partitions):
            name = _code(column.number, n)
            codes[name] = joined[name]
            if missing is not None:
                of_missing = ibis.literal(int(each.groups[missing]), each.code_type)
                codes[name] = joined[column.key].isnull().ifelse(of_missing, joined[name])
    keep = [name for name in rows.columns if name not in {column.key for column in now}]
    return joined.select(*keep, **codes)


def _lookup(table: Table, column: _Column) -> pa.Table:
    """Return a table with a row for each key of the column and its groups."""
    reading = table.readings[table.columns.index(column.name)]
    texts = [text for text in column.domain.places if text != MISSING]
    values = np.array([column.domain.places[text] for text in texts], dtype=np.intp)
    kind, typed = ibis.dtype(reading.type).to_pyarrow(), [reading.key_of(text) for text in texts]
    if isinstance(reading, Integers):
        keys = number_array(np.array(typed, dtype=reading.type))
    else:
        keys = text_array(texts) if typed == texts else pa.array(typed, kind)
    groups = {
        _code(column.number, n): number_array(partition.groups[values].astype(partition.code_type))
        for n, partition in enumerate(column.partitions)
    }
    return pa.table({f"key{column.number}": keys, **groups})
