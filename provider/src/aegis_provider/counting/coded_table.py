"""The records of a table as small integers, stored by the engine, from which any number of pairs is counted.

The combinations of groups in the records of a large table tell which records are unique in them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from math import prod
from typing import Any, Final, Self, TypeAlias

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
from aegis_provider.table.reading import Typed
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

LABEL: Final = 1_000_000
"""The place of the label among the columns, above those of all attributes."""

Grouped: TypeAlias = tuple[int, int]
"""The place of an attribute in the plan, and the place of a partition among those given for it."""

BY_LABEL: Final[Grouped] = (LABEL, 0)
"""The label, each value by itself."""

Two: TypeAlias = tuple[Grouped, Grouped]

Three: TypeAlias = tuple[Grouped, Grouped, Grouped | None]
"""Two columns, and the one whose values tell the records apart: a label; `None` for joint counts of the two."""


@dataclass(frozen=True, eq=False)
class CodedTable:
    """A table `rows` with a column of codes for each partition of the chosen attributes, and for the label.

    `partitions`: partitions of an attribute's values, by its place in the plan, and of the label's at `LABEL`. `name`:
    the table's, for messages.
    """

    engine: Engine
    rows: Expression
    partitions: Mapping[int, Sequence[Partition]]
    records: int
    name: str

    @classmethod
    def of(cls, counted: CountedTable, label: str, partitions: Mapping[int, Sequence[Partition]]) -> "CodedTable":
        """Look up the groups of these attributes' values for each record, 60 attributes at a time.

        DuckDB writes to disk whatever exceeds the memory limit.

        Args:
            partitions: By place; at `LABEL` further ones of the label, the first of which has each value by itself.

        Raises:
            TableError: The table cannot be read.
        """
        table, by_itself = counted.table, [Partition.identity(len(counted.label))]
        columns = [
            _Column(each, counted.attributes[each].attribute.name, counted.attributes[each].domain, of)
            for each, of in partitions.items()
            if each != LABEL
        ]
        columns.append(_Column(LABEL, label, counted.label, partitions.get(LABEL, by_itself)))
        keys = table.keys([column.name for column in columns])
        rows = keys.select(**{f"t{column.number}": keys[f"v{n}"] for n, column in enumerate(columns)})
        for start in range(0, len(columns), _LOOKUPS_PER_STEP):
            rows = _looked_up(table, rows, columns[start : start + _LOOKUPS_PER_STEP])
            if start + _LOOKUPS_PER_STEP < len(columns):
                rows = table.engine.keep(rows)
        return cls(table.engine, rows, {LABEL: by_itself, **partitions}, counted.records, table.name)

    def counts(self, threes: Sequence[Three]) -> Iterator[PairCells]:
        """Yield the joint counts of the groups of each two columns, by the groups of the third.

        Raises:
            TableError: The records are not those that were counted.
        """
        coded, readings = self._readings(threes)
        for is_here, together in readings:
            if is_here:
                for table, (first, second, third) in zip(coded.tables(together), together, strict=True):
                    shape = self._size(first), self._size(second), self._size(third)
                    cells = np.flatnonzero(table)
                    both, label = np.divmod(cells, shape[2])
                    yield PairCells(*np.divmod(both, shape[1]), label, table[cells], shape)
            else:
                yield from coded.counts_by_engine(together)

    def joints(self, pairs: Sequence[Two]) -> Iterator[Counts]:
        """Yield for each pair (groups, groups) the joint counts of its groups.

        Raises:
            TableError: The records are not those that were counted.
        """
        coded, readings = self._readings([(*pair, None) for pair in pairs])
        for is_here, together in readings:
            if is_here:
                for table, (first, second, _) in zip(coded.tables(together), together, strict=True):
                    yield table.reshape(self._size(first), self._size(second))
            else:
                yield from (each.joint() for each in coded.counts_by_engine(together))

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
                raise TableError(f"{self.name}: changed while it was read; summarize again")
            yield {each: numbers_in(batch[name]) for each, name in names.items()}
        if records != self.records:
            raise TableError(f"{self.name}: changed while it was read; summarize again")

    def tables(self, threes: Sequence[Three]) -> list[Counts]:
        """Return (groups * groups * groups,) the counts of each three, by one reading of the codes.

        Raises:
            TableError: The records are not those that were counted.
        """
        tables = [np.zeros(self._cells(three), dtype=np.int64) for three in threes]
        for batch in self.codes([column for three in threes for column in three if column is not None]):
            codes = {column: some.astype(np.intp) for column, some in batch.items()}
            inner: dict[tuple[Grouped, Grouped | None], Places] = {}
            for _, second, third in threes:
                if (second, third) not in inner:
                    of_third = 0 if third is None else codes[third]
                    inner[second, third] = codes[second] * self._size(third) + of_third
            for table, (first, second, third) in zip(tables, threes, strict=True):
                cells = codes[first] * (self._size(second) * self._size(third)) + inner[second, third]
                if table.size <= cells.size:
                    np.add(table, np.bincount(cells, minlength=table.size), out=table)
                else:
                    np.add.at(table, cells, 1)
        return tables

    def _readings(self, threes: Sequence[Three]) -> tuple["CodedTable", list[tuple[bool, list[Three]]]]:
        """Return what is counted by each reading, with whether it is counted here, and the codes to read.

        The codes are in a temporary table, unless looking them up again for each reading is cheaper.
        """
        cells = [self._cells(three) for three in threes]
        here = [self.engine.is_duckdb and cell <= _CELLS_PER_READING for cell in cells]
        before = zip(here, accumulate(cells), strict=True)
        places = [
            end // _CELLS_PER_READING if is_here else place // _PAIRS_PER_READING
            for place, (is_here, end) in enumerate(before)
        ]
        grouped = groupby(zip(here, places, threes, strict=True), lambda each: each[:2])
        readings = [(is_here, [three for _, _, three in group]) for (is_here, _), group in grouped]
        if len(readings) <= _LOOKED_UP_AGAIN and all(here):
            return self, readings
        return replace(self, rows=self.engine.keep(self.rows)), readings

    def _cells(self, three: Three) -> int:
        return prod(map(self._size, three))

    def _size(self, grouped: Grouped | None) -> int:
        if grouped is None:
            return 1
        column, partition = grouped
        return self.partitions[column][partition].size

    def counts_by_engine(self, threes: Sequence[Three]) -> Iterator[PairCells]:
        """Yield the counts by one query of the engine, without empty cells.

        Raises:
            TableError: The records are not those that were counted.
        """
        wide = {
            column: self.rows[_code(*column)].cast("int64")
            for three in threes
            for column in three
            if column is not None
        }
        codes, sets = {}, []
        for first, second, third in threes:  # the second together with the third
            one, both = _code(*first), "_".join([_code(*second), *([_code(*third)] if third else [])])
            codes[one] = wide[first]
            codes[both] = wide[second] * self._size(third) + wide[third] if third else wide[second]
            sets.append((one, both))
        used = self.rows.select(**codes)
        grouped = self.engine.fetch(counts_of_sets(self.engine, used, sets, lambda _name, key: key))
        place, n = (numbers_in(grouped[name]) for name in ("place", "n"))
        if grouped["first"].null_count or grouped["second"].null_count or int(n.sum()) != len(threes) * self.records:
            raise TableError(f"{self.name}: changed while it was read; summarize again")
        first_codes, second_codes = (grouped[name].to_numpy() for name in ("first", "second"))
        for which, (one_of, two_of, three_of) in enumerate(threes):
            mine, shape = place == which, (self._size(one_of), self._size(two_of), self._size(three_of))
            groups, labels = np.divmod(second_codes[mine].astype(np.intp), shape[2])
            yield PairCells(first_codes[mine].astype(np.intp), groups, labels, n[mine].astype(np.int64), shape)


@dataclass(frozen=True, eq=False)
class _Column:
    """A column to code: its number here, its name and domain, and the partitions of its values."""

    number: int
    name: str
    domain: Domain
    partitions: Sequence[Partition]


def _code(number: int, partition: int) -> str:
    return f"k{number}_{partition}"


def _looked_up(table: Table, rows: Expression, now: Sequence[_Column]) -> Expression:
    """Return the rows with the codes of these columns instead of their keys."""
    codes = {}
    joined = rows
    for column in now:
        lookup = table.engine.lookup(_lookup(table, column))
        joined = joined.left_join(lookup, joined[f"t{column.number}"] == lookup[f"key{column.number}"])
    for column in now:
        missing = column.domain.places.get(MISSING)
        for n, each in enumerate(column.partitions):
            name = _code(column.number, n)
            codes[name] = joined[name]
            if missing is not None:
                of_missing = ibis.literal(int(each.groups[missing]), each.code_type)
                codes[name] = joined[f"t{column.number}"].isnull().ifelse(of_missing, joined[name])
    keep = [name for name in rows.columns if name not in {f"t{column.number}" for column in now}]
    return joined.select(*keep, **codes)


def _lookup(table: Table, column: _Column) -> pa.Table:
    """Return a table with a row for each key of the column and its groups."""
    reading = table.readings[table.columns.index(column.name)]
    texts = [text for text in column.domain.places if text != MISSING]
    values = np.array([column.domain.places[text] for text in texts], dtype=np.intp)
    kind, typed = ibis.dtype(reading.type).to_pyarrow(), [reading.key_of(text) for text in texts]
    if isinstance(reading, Typed) and "int" in reading.type:
        keys = number_array(np.array(typed, dtype=reading.type))
    else:
        keys = text_array(texts) if typed == texts else pa.array(typed, kind)
    groups = {
        _code(column.number, n): number_array(partition.groups[values].astype(partition.code_type))
        for n, partition in enumerate(column.partitions)
    }
    return pa.table({f"key{column.number}": keys, **groups})


_LARGEST_KEY: Final = 2**62

# Keys are made of this many records at once, which stay in the processor's cache.
_TOGETHER: Final = 1 << 16

# The number of records that show whether combinations repeat.
_LOOKED_AT: Final = 1 << 18


@dataclass(frozen=True, eq=False)
class Combinations:
    """Records, or their distinct combinations if these are far fewer, with the group of each attribute's value.

    Attributes:
        codes: (combinations,) by the place of an attribute in the plan, the group of its value.
        counts: (combinations,) the number of records with each.
    """

    codes: Mapping[int, NDArray[np.signedinteger[Any]]]
    counts: Counts

    @classmethod
    def of(cls, counted: CountedTable, label: str, partitions: Mapping[int, Partition]) -> Self:
        """Read the table once, and store the groups of these attributes' values in one or a few bytes each.

        Without attributes, all records agree, and nothing is read.

        Raises:
            TableError: The table is not the one that was counted.
        """
        if not partitions:
            return cls({}, np.array([counted.records]))
        coded = CodedTable.of(counted, label, {place: [partition] for place, partition in partitions.items()})
        codes = {place: np.empty(counted.records, dtype=partition.code_type) for place, partition in partitions.items()}
        end = 0
        for batch in coded.codes([(place, 0) for place in partitions]):
            for (place, _), some in batch.items():
                codes[place][end : end + len(some)] = some
            end += len(some)
        views = {place: Partition.identity(partition.size) for place, partition in partitions.items()}
        return cls(codes, np.ones(counted.records, dtype=np.int8)).merged(views)

    def alone(self, views: Mapping[int, Partition]) -> int:
        """Return the number of records that differ from all others in these attributes.

        Args:
            views: By attribute, a coarser partition of the groups of its values.
        """
        keys = self.keys(views)
        if self.counts.max(initial=1) == 1:
            keys.sort()
            return int(np.count_nonzero(_is_single(keys)))
        order = np.argsort(keys)
        return int(np.count_nonzero(self.counts[order[_is_single(keys[order])]] == 1))

    def keys(self, views: Mapping[int, Partition]) -> Places:
        """(combinations,) Numbers that are equal for the combinations that agree on these attributes."""
        keys, size = np.zeros(len(self.counts), dtype=np.intp), 1
        for place, view in views.items():
            if size * view.size > _LARGEST_KEY:
                distinct, keys = np.unique(keys, return_inverse=True)
                size = len(distinct)
            for start in range(0, len(keys), _TOGETHER):
                some = slice(start, start + _TOGETHER)
                keys[some] = keys[some] * view.size + view.groups[self.codes[place][some]]
            size *= view.size
        return keys

    def merged(self, views: Mapping[int, Partition]) -> Self:
        """Merge equal combinations, if that saves about half of them.

        Args:
            views: By attribute, the finest partition needed.
        """
        first = {place: codes[:_LOOKED_AT] for place, codes in self.codes.items()}
        seen = type(self)(first, self.counts[:_LOOKED_AT]).keys(views)
        # If half of all records repeat others, at least this share of the first ones repeats one of these.
        if 2 * (len(seen) - len(np.unique(seen))) * len(self.counts) < len(seen) ** 2:
            return self
        _, firsts, counts = np.unique(self.keys(views), return_index=True, return_counts=True)
        return type(self)({place: codes[firsts] for place, codes in self.codes.items()}, counts)


def _is_single(ordered: Places) -> NDArray[np.bool_]:
    """(keys,) Whether each of these ascending keys occurs once."""
    begins = np.concatenate([[True], ordered[1:] != ordered[:-1], [True]])
    single: NDArray[np.bool_] = begins[:-1] & begins[1:]
    return single
