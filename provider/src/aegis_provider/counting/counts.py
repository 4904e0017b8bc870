"""Joint counts of every attribute with the label, from one reading of the table, and partitions that fold them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from aegis_provider.table import Table
from aegis_provider.table.arrays import numbers_in

Counts: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class Tally:
    """The pairs that occur, each once: the text `texts[i]` with the label `labels[i]`, `counts[i]` times."""

    texts: NDArray[Any]
    labels: NDArray[Any]
    counts: Counts


@dataclass(frozen=True)
class JointCounts:
    """`F(A, Y)` without its zero cells: `counts[i]` records have value `values[i]` and label `labels[i]`.

    `shape`: the sizes of `Dom(A)` and `Dom(Y)`.
    """

    values: NDArray[np.intp]
    labels: NDArray[np.intp]
    counts: Counts
    shape: tuple[int, int]

    @classmethod
    def of(cls, joint: Counts) -> Self:
        """Return these counts (values, labels) without zero cells."""
        values, labels = np.nonzero(joint)
        return cls(values, labels, joint[values, labels], (joint.shape[0], joint.shape[1]))

    def histogram(self) -> Counts:
        """Return `f(A)`, one count per value."""
        return np.bincount(self.values, self.counts, self.shape[0]).astype(np.int64)

    def label_histogram(self) -> Counts:
        """Return `f(Y)`, one count per label."""
        return np.bincount(self.labels, self.counts, self.shape[1]).astype(np.int64)

    def dense(self) -> Counts:
        """Return `F(A, Y)` with its zero cells."""
        return self.fold(np.arange(self.shape[0]), self.shape[0])

    def fold(self, mapping: Sequence[int] | NDArray[np.integer[Any]], size: int) -> Counts:
        """Return `F(M(A), Y)`, `size` by labels; `mapping` gives each value the index of its masked value."""
        folded = np.zeros((size, self.shape[1]), dtype=np.int64)
        np.add.at(folded, (np.asarray(mapping, dtype=np.intp)[self.values], self.labels), self.counts)
        return folded

    def folded(self, partition: "Partition") -> "JointCounts":
        """Return the joint counts of groups of values."""
        return JointCounts.of(self.fold(partition.groups, partition.size))


def tally(table: Table, attributes: Sequence[str], label: str) -> list[Tally]:
    """Count every attribute against the label: one reading for 60 attributes, whatever the number of maskings.

    Raises:
        TableError: A column is missing, or the file is unreadable.
    """
    return [
        Tally(
            np.array(pairs["first"].to_pylist(), dtype=object),
            np.array(pairs["second"].to_pylist(), dtype=object),
            numbers_in(pairs["n"]),
        )
        for pairs in table.counts_with(attributes, label)
    ]


Places: TypeAlias = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Partition:
    """The values of a domain in groups.

    Attributes:
        groups: (values,) the group of each value, from 0 to `size - 1`; no group is empty.
        size: the number of groups.
    """

    groups: Places
    size: int

    @classmethod
    def of(cls, groups: Places) -> "Partition":
        """Return the partition of values with these numbers, renumbered in the order of their first values."""
        _, first, place = np.unique(groups, return_index=True, return_inverse=True)
        return cls(np.argsort(np.argsort(first))[place.reshape(-1)], len(first))

    @classmethod
    def identity(cls, values: int) -> "Partition":
        """Return the partition in which every value is its own group."""
        return cls(np.arange(values), values)

    @property
    def code_type(self) -> str:
        """The smallest signed type, which every engine has, with a number for every group."""
        return str(np.min_scalar_type(-max(1, self.size)))

    def per_group_of(self, finer: "Partition") -> Places:
        """Return (groups of the finer one,) this partition's group of each; it must be a function of the finer one."""
        coarse = np.zeros(finer.size, dtype=np.intp)
        coarse[finer.groups] = self.groups
        return coarse

    def follows_from(self, other: "Partition") -> bool:
        """Return whether this partition is a function of the other."""
        return self.size <= other.size and np.array_equal(self.per_group_of(other)[other.groups], self.groups)


def finest_common_coarsening(one: Partition, other: Partition) -> Partition:
    """Return the finest partition that both of these (of one domain) determine."""
    linked = scipy.sparse.coo_array(
        (np.ones(len(one.groups), dtype=np.int64), (one.groups, one.size + other.groups)),
        shape=(one.size + other.size,) * 2,
    )
    _, component = scipy.sparse.csgraph.connected_components(linked, directed=False)
    return Partition.of(component.astype(np.intp)[one.groups])


def common_refinement(partitions: Sequence[Partition]) -> Partition:
    """Return the coarsest partition that determines each of these (one or more, of one domain)."""
    groups = partitions[0].groups
    for partition in partitions[1:]:
        _, groups = np.unique(groups * partition.size + partition.groups, return_inverse=True)
    distinct, groups = np.unique(groups, return_inverse=True)
    return Partition(groups, len(distinct))
