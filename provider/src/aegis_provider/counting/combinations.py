"""The combinations of groups in the records of a large table, and the records that are unique in them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.coded_table import CodedTable
from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.counting.counts import Counts, Partition, Places

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
