"""The records of a table as small integers, kept by the engine, from which any number of pairs is counted."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import ibis
import numpy as np
import pyarrow as pa

from aegis_provider.counting.counted_table import CountedAttribute, CountedTable
from aegis_provider.counting.counts import Counts, Partition
from aegis_provider.errors import TableError
from aegis_provider.table.engine import Engine, Expression, counts_of_sets
from aegis_provider.table.values import MISSING

# Every lookup has its own buffers, and all lookups of a step are open at once.
_LOOKUPS_PER_STEP = 60

# Counting more pairs at once would keep too many groups in memory.
_PAIRS_PER_READING = 30

Grouped: TypeAlias = tuple[int, int]
"""The place of an attribute in the plan, and the place of one of its partitions among those given for it."""


@dataclass(frozen=True, eq=False)
class CodedTable:
    """A temporary table `rows` with a column of codes for each partition of the chosen attributes.

    `partitions`: partitions of an attribute's values, by its place in the plan. `name`: the table's, for messages.
    """

    engine: Engine
    rows: Expression
    partitions: Mapping[int, Sequence[Partition]]
    records: int
    name: str

    @classmethod
    def of(cls, counted: CountedTable, partitions: Mapping[int, Sequence[Partition]]) -> "CodedTable":
        """Read the table once, and keep for each record the groups of its values of these attributes.

        DuckDB writes to disk whatever exceeds the memory limit.

        Raises:
            TableError: The table cannot be read.
        """
        table, attributes = counted.table, list(partitions)
        names = [counted.attributes[each].attribute.name for each in attributes]
        keys = table.keys(names)
        rows = keys.select(**{f"t{place}": keys[f"v{n}"] for n, place in enumerate(attributes)})
        for start in range(0, len(attributes), _LOOKUPS_PER_STEP):
            now = attributes[start : start + _LOOKUPS_PER_STEP]
            rows = table.engine.keep(_looked_up(counted, rows, {each: partitions[each] for each in now}))
        return cls(table.engine, rows, partitions, counted.records, table.name)

    def counts(self, pairs: Sequence[tuple[Grouped, Grouped]]) -> Iterator[Counts]:
        """Yield for each pair (groups of the first, groups of the second) how many records are in both groups.

        Raises:
            TableError: The records are not those that were counted.
        """
        for start in range(0, len(pairs), _PAIRS_PER_READING):
            yield from self._counts(pairs[start : start + _PAIRS_PER_READING])

    def _counts(self, pairs: Sequence[tuple[Grouped, Grouped]]) -> Iterator[Counts]:
        sets = [(_column(*first), _column(*second)) for first, second in pairs]
        used = self.rows.select(*dict.fromkeys(name for both in sets for name in both))
        grouped = self.engine.fetch(counts_of_sets(self.engine, used, sets, lambda _name, key: key))
        place, n = (grouped[name].to_numpy() for name in ("place", "n"))
        if grouped["first"].null_count or grouped["second"].null_count or int(n.sum()) != len(pairs) * self.records:
            raise TableError(f"{self.name}: changed while it was read; summarize again")
        first, second = (grouped[name].to_numpy() for name in ("first", "second"))
        for which, pair in enumerate(pairs):
            mine = place == which
            counts = np.zeros([self.partitions[attribute][each].size for attribute, each in pair], dtype=np.int64)
            counts[first[mine], second[mine]] = n[mine]
            yield counts


def _column(attribute: int, partition: int) -> str:
    return f"k{attribute}_{partition}"


def _looked_up(counted: CountedTable, rows: Expression, now: Mapping[int, Sequence[Partition]]) -> Expression:
    """Return the rows with the codes of these attributes instead of their keys."""
    codes = {}
    joined = rows
    for attribute, partitions in now.items():
        known = counted.attributes[attribute]
        lookup = ibis.memtable(_lookup(counted, known, partitions, attribute))
        joined = joined.left_join(lookup, joined[f"t{attribute}"] == lookup[f"key{attribute}"])
    for attribute, partitions in now.items():
        missing = counted.attributes[attribute].domain.places.get(MISSING)
        for n, partition in enumerate(partitions):
            name = _column(attribute, n)
            instead = None if missing is None else int(partition.groups[missing])
            of_missing = ibis.literal(instead, "int32")
            codes[name] = joined[f"t{attribute}"].isnull().ifelse(of_missing, joined[name])
    keep = [name for name in rows.columns if name not in {f"t{attribute}" for attribute in now}]
    return joined.select(*keep, **codes)


def _lookup(
    counted: CountedTable, attribute: CountedAttribute, partitions: Sequence[Partition], place: int
) -> pa.Table:
    """Return a table with a row for each key of the attribute and its groups."""
    reading = counted.table.readings[counted.table.columns.index(attribute.attribute.name)]
    texts = [text for text in attribute.domain.places if text != MISSING]
    values = np.array([attribute.domain.places[text] for text in texts], dtype=np.intp)
    kind = ibis.dtype(reading.type).to_pyarrow()
    keys = pa.array([reading.key_of(text) for text in texts], kind)
    groups = {_column(place, n): pa.array(each.groups[values], pa.int32()) for n, each in enumerate(partitions)}
    return pa.table({f"key{place}": keys, **groups})
