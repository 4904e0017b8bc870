"""Fast counts of the records in classes that are too small or too uniform, needed tens of thousands of times."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counted_table import DistinctRecords
from aegis_provider.counting.counts import Counts, Partition, Places
from aegis_provider.search.lattice import Lattice, Node

Keys: TypeAlias = NDArray[np.int64]

_LARGEST_KEY = 1 << 62

# With up to this many possible cells per row, counting all cells is faster than sorting the rows.
_CELLS_PER_ROW = 2


@dataclass(frozen=True, eq=False)
class ClassCounter:
    """Distinct records with their group under every choice, in as few bytes as possible.

    Attributes:
        lattice: The lattice, which says how many groups each choice makes.
        groups: (rows,) The group of each record, by attribute and choice.
        sensitive: For each sensitive attribute, (rows,) the place of the value, and the number of values.
        counts: (rows,) The number of records.
    """

    lattice: Lattice
    groups: tuple[tuple[NDArray[Any], ...], ...]
    sensitive: tuple[tuple[Places, int], ...]
    counts: Counts

    @classmethod
    def of(
        cls, lattice: Lattice, records: DistinctRecords, sensitive: Sequence[str], masked: Mapping[str, Places]
    ) -> "ClassCounter":
        """Return the counter.

        Args:
            lattice: The lattice.
            records: The distinct records of the attributes of the lattice and of the sensitive ones.
            sensitive: The sensitive attributes, possibly none.
            masked: The place of each value's masked value, for sensitive attributes that are masked.
        """
        groups = tuple(
            tuple(_narrow(partition, _codes(records, each.attribute)) for partition in each.partitions)
            for each in lattice.choices
        )
        mappings = [masked.get(name, np.arange(_values(records, name))) for name in sensitive]
        values = [
            (each[_codes(records, name)], int(each.max()) + 1) for name, each in zip(sensitive, mappings, strict=True)
        ]
        # Without sensitive attributes, a constant one takes their place.
        nothing = (np.zeros(len(records.counts), dtype=np.intp), 1)
        return cls(lattice, groups, tuple(values) or (nothing,), records.counts)

    def short(self, node: Node, k: float, distinct: float) -> int:
        """Count the records of classes with fewer than `k` records or `distinct` values of any sensitive attribute."""
        keys, size = self._keys(node)
        if distinct <= 1 and size <= _CELLS_PER_ROW * len(keys):  # most nodes of most searches, and three times faster
            sizes = np.bincount(keys, self._weights)
            return int(sizes[sizes < k].sum())
        by_attribute = [self._classes(keys, size, *each) for each in self.sensitive]
        sizes = by_attribute[0][0]
        fails = sizes < k
        for _, values in by_attribute:
            fails |= values < distinct
        return int(sizes[fails].sum())

    def _keys(self, node: Node) -> tuple[Keys, int]:
        """Return (rows,) the number of each row's class, and a size that all of these numbers are below."""
        keys, size = np.zeros(len(self.counts), dtype=np.int64), 1
        room = _LARGEST_KEY >> (self._row_bits + max(_bits(values) for _, values in self.sensitive))
        for groups, number in self._chosen(node):
            if size * number > room:
                occurring, keys = np.unique(keys, return_inverse=True)
                size = len(occurring)
            keys *= number
            keys += groups
            size *= number
        return keys, size

    def _chosen(self, node: Node) -> Iterator[tuple[NDArray[Any], int]]:
        for each, groups, place in zip(self.lattice.choices, self.groups, node, strict=True):
            if each.partitions[place].size > 1:
                yield groups[place], each.partitions[place].size

    def _classes(self, keys: Keys, size: int, column: Places, values: int) -> tuple[Counts, Counts]:
        """Return (classes,) the records of each class, and its number of values of a sensitive attribute."""
        if size * values <= _CELLS_PER_ROW * len(keys):
            table = np.bincount(keys * values + column, self.counts, size * values).reshape(size, values)
            sizes = table.sum(axis=1)
            return sizes[sizes > 0].astype(np.int64), np.count_nonzero(table[sizes > 0], axis=1)
        bits = _bits(values)
        cells, counts = self._sorted((keys << bits) + column)
        starts = np.flatnonzero(_changes(cells >> bits))
        sizes = np.diff(starts, append=len(cells)) if counts is None else np.add.reduceat(counts, starts)
        return sizes, np.add.reduceat(_changes(cells), starts, dtype=np.int64)

    def _sorted(self, cells: Keys) -> tuple[Keys, Counts | None]:
        """Return the sorted cells, and their counts unless all are 1.

        Sorting with the row in the low bits is faster than `argsort`.
        """
        if self._all_single:
            cells.sort()
            return cells, None
        cells <<= self._row_bits
        cells += np.arange(len(cells))
        cells.sort()
        return cells >> self._row_bits, self.counts[cells & ((1 << self._row_bits) - 1)]

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        return self.counts.astype(np.float64)

    @cached_property
    def _all_single(self) -> bool:
        return bool(np.all(self.counts == 1))

    @cached_property
    def _row_bits(self) -> int:
        return len(self.counts).bit_length()


def _codes(records: DistinctRecords, name: str) -> Places:
    return records.codes[:, records.columns.index(name)]


def _values(records: DistinctRecords, name: str) -> int:
    return len(records.domains[records.columns.index(name)])


def _bits(values: int) -> int:
    """Return the number of bits for the places of this many values."""
    return (values - 1).bit_length()


def _narrow(partition: Partition, codes: Places) -> NDArray[Any]:
    """(rows,) The group of each, in the narrowest integer type."""
    return partition.groups.astype(np.min_scalar_type(partition.size))[codes]


def _changes(sorted_values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where a value differs from the one before; the first one counts as different."""
    differs: NDArray[np.bool_] = np.empty(len(sorted_values), dtype=np.bool_)
    differs[0] = True
    np.not_equal(sorted_values[1:], sorted_values[:-1], out=differs[1:])
    return differs
