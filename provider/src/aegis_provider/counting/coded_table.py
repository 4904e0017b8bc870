"""The records of a table as small integers, kept by the engine, from which any number of pairs is counted."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import ibis
import numpy as np
import pyarrow as pa

from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.counting.counts import Counts, Partition
from aegis_provider.counting.pair_cells import PairCells
from aegis_provider.errors import TableError
from aegis_provider.table import Table
from aegis_provider.table.engine import Engine, Expression, counts_of_sets
from aegis_provider.table.values import MISSING, Domain

# Every lookup has its own buffers, and all lookups of a step are open at once.
_LOOKUPS_PER_STEP = 60

# Counting more pairs at once would keep too many groups in memory.
_PAIRS_PER_READING = 30

# So many records at once are counted here, not by the engine.
_RECORDS_PER_BATCH = 1 << 16

# The number of the label among the columns, above those of all attributes.
_LABEL = 1_000_000

Grouped: TypeAlias = tuple[int, int]
"""The place of an attribute in the plan, and the place of one of its partitions among those given for it."""


@dataclass(frozen=True, eq=False)
class CodedTable:
    """A temporary table `rows` with a column of codes for each partition of the chosen attributes, and for the label.

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
        """Read the table once, and keep for each record the groups of its values of these attributes.

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
            rows = table.engine.keep(_looked_up(table, rows, columns[start : start + _LOOKUPS_PER_STEP]))
        return cls(table.engine, rows, partitions, labels, counted.records, table.name)

    def counts(self, pairs: Sequence[tuple[Grouped, Grouped]]) -> Iterator[PairCells]:
        """Yield for each pair how many records are in each two groups, by label value.

        Raises:
            TableError: The records are not those that were counted.
        """
        for start in range(0, len(pairs), _PAIRS_PER_READING):
            yield from self._counts(pairs[start : start + _PAIRS_PER_READING])

    def joints(self, pairs: Sequence[tuple[Grouped, Grouped]]) -> list[Counts]:
        """Return for each pair (groups, groups) how many records are in each two groups.

        The engine counts few pairs. Of many, each group of which takes it a query, the codes are read once, and counted
        here; memory then holds all counts.

        Raises:
            TableError: The records are not those that were counted.
        """
        if len(pairs) <= _PAIRS_PER_READING:
            return [each.joint() for each in self.counts(pairs)]
        shapes = [(self._size(first), self._size(second)) for first, second in pairs]
        joints = [np.zeros(rows * columns, dtype=np.int64) for rows, columns in shapes]
        names = list(dict.fromkeys(_code(*each) for pair in pairs for each in pair))
        records = 0
        for batch in self.engine.stream(self.rows.select(*names), _RECORDS_PER_BATCH):
            if any(column.null_count for column in batch.columns):
                raise self._changed()
            records += len(batch)
            codes = {name: batch[name].to_numpy().astype(np.intp) for name in names}
            for place, ((first, second), (_, columns)) in enumerate(zip(pairs, shapes, strict=True)):
                cells = codes[_code(*first)] * columns + codes[_code(*second)]
                joints[place] += np.bincount(cells, minlength=joints[place].size)
        if records != self.records:
            raise self._changed()
        return [joint.reshape(shape) for joint, shape in zip(joints, shapes, strict=True)]

    def _size(self, grouped: Grouped) -> int:
        attribute, partition = grouped
        return self.partitions[attribute][partition].size

    def _changed(self) -> TableError:
        return TableError(f"{self.name}: changed while it was read; summarize again")

    def _counts(self, pairs: Sequence[tuple[Grouped, Grouped]]) -> Iterator[PairCells]:
        sets = [(_code(*first), f"{_code(*second)}_label") for first, second in pairs]
        used = self.rows.select(**self._codes(pairs))
        grouped = self.engine.fetch(counts_of_sets(self.engine, used, sets, lambda _name, key: key))
        place, n = (grouped[name].to_numpy() for name in ("place", "n"))
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

    def _codes(self, pairs: Sequence[tuple[Grouped, Grouped]]) -> dict[str, Expression]:
        """Return the code of each first group, and of each second group together with the label."""
        label = self.rows[_code(_LABEL, 0)].cast("int64")
        codes = {_code(*first): self.rows[_code(*first)].cast("int64") for first, _ in pairs}
        both = {f"{_code(*second)}_label": self.rows[_code(*second)] * self.labels + label for _, second in pairs}
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


def _code(number: int, partition: int) -> str:
    return f"k{number}_{partition}"


def _looked_up(table: Table, rows: Expression, now: Sequence[_Column]) -> Expression:
    """Return the rows with the codes of these columns instead of their keys."""
    codes = {}
    joined = rows
    for column in now:
        lookup = ibis.memtable(_lookup(table, column))
        joined = joined.left_join(lookup, joined[column.key] == lookup[f"key{column.number}"])
    for column in now:
        missing = column.domain.places.get(MISSING)
        for n, partition in enumerate(column.partitions):
            name = _code(column.number, n)
            instead = None if missing is None else int(partition.groups[missing])
            of_missing = ibis.literal(instead, "int32")
            codes[name] = joined[column.key].isnull().ifelse(of_missing, joined[name])
    keep = [name for name in rows.columns if name not in {column.key for column in now}]
    return joined.select(*keep, **codes)


def _lookup(table: Table, column: _Column) -> pa.Table:
    """Return a table with a row for each key of the column and its groups."""
    reading = table.readings[table.columns.index(column.name)]
    texts = [text for text in column.domain.places if text != MISSING]
    values = np.array([column.domain.places[text] for text in texts], dtype=np.intp)
    kind = ibis.dtype(reading.type).to_pyarrow()
    keys = pa.array([reading.key_of(text) for text in texts], kind)
    groups = {
        _code(column.number, n): pa.array(each.groups[values], pa.int32()) for n, each in enumerate(column.partitions)
    }
    return pa.table({f"key{column.number}": keys, **groups})
