"""How a masking function groups the values of an attribute, and when one grouping follows from another."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Places: TypeAlias = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Partition:
    """The values of a domain in groups.

    `groups`: (values,) the group of each value, from 0 to `size - 1`; every group has a value.
    """

    groups: Places
    size: int

    @classmethod
    def identity(cls, values: int) -> "Partition":
        """Every value is a group by itself."""
        return cls(np.arange(values), values)

    def per_group_of(self, finer: "Partition") -> Places:
        """(groups of the finer one,) the group of each, where this partition follows from the finer one."""
        found = np.zeros(finer.size, dtype=np.intp)
        found[finer.groups] = self.groups
        return found

    def follows_from(self, other: "Partition") -> bool:
        """Whether values that share a group of the other share one here too: this masking is a function of that."""
        return self.size <= other.size and np.array_equal(self.per_group_of(other)[other.groups], self.groups)


def common_refinement(partitions: Sequence[Partition]) -> Partition:
    """The coarsest partition that each of these (one or more, of one domain) follows from."""
    groups = partitions[0].groups
    for each in partitions[1:]:
        _, groups = np.unique(groups * each.size + each.groups, return_inverse=True)
    found, groups = np.unique(groups, return_inverse=True)
    return Partition(groups, len(found))
