"""Records as what they are to a solver: distinct vectors of the hidden attributes, counted in each cluster."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

IntArray: TypeAlias = NDArray[np.int64]
FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]

_LARGEST_KEY = 1 << 62

#: In a vector: masked, so it agrees with nothing, itself included.
STAR = -1


@dataclass(frozen=True, eq=False)
class Vectors:
    """The distinct vectors of a table, and how often each cluster has each.

    `values`: (vectors, d) codes from 0; `counts`: (vectors, clusters); `of_record`: (n,) the vector of each record;
    `cluster_of_record`: (n,) from 0. All clusters have `groups` records.
    """

    values: IntArray
    counts: IntArray
    of_record: IntArray
    cluster_of_record: IntArray

    @classmethod
    def of(cls, codes: IntArray, clusters: IntArray) -> "Vectors":
        """`codes`: (n, d) a number from 0 for each value; `clusters`: (n,) 0 .. u-1, each as often as the others.

        Raises `ValueError` for another shape, a negative code, no records, or clusters of different sizes.
        """
        _refuse_misshapen(codes, clusters)
        values, of_record = distinct_rows(codes)
        counts = np.zeros((len(values), int(clusters.max()) + 1), dtype=np.int64)
        np.add.at(counts, (of_record, clusters), 1)
        sizes = counts.sum(axis=0)
        if np.any(sizes != sizes[0]):
            raise ValueError(f"clusters must have equally many records; they have from {sizes.min()} to {sizes.max()}")
        return cls(values, counts, of_record, clusters)

    @property
    def attributes(self) -> int:
        """How many attributes are hidden: d."""
        return int(self.values.shape[1])

    @property
    def clusters(self) -> int:
        """How many there are: u."""
        return int(self.counts.shape[1])

    @property
    def groups(self) -> int:
        """How many there are, of a record of each cluster: n / u."""
        return int(self.counts[:, 0].sum())

    def records(self, members: IntArray, random: np.random.Generator) -> IntArray:
        """(n,) the group of each record, given `members`: (groups, u) the vector of each group's record of each
        cluster.

        Which of several equal records of a cluster goes to which group is drawn.
        """
        found = np.empty(len(self.of_record), dtype=np.int64)
        for cluster in range(self.clusters):
            records = random.permutation(np.flatnonzero(self.cluster_of_record == cluster))
            by_vector = records[np.argsort(self.of_record[records], kind="stable")]
            found[by_vector] = np.argsort(members[:, cluster], kind="stable")
        return found


def disagreements(left: IntArray, right: IntArray) -> IntArray:
    """(rows,) on how many attributes rows of codes disagree; a star disagrees."""
    found: IntArray = (~agreements(left, right)).sum(axis=-1)
    return found


def agreements(left: IntArray, right: IntArray) -> BoolArray:
    """(rows, d) where both have the same code, and it is no star."""
    found: BoolArray = (left == right) & (left != STAR)
    return found


def distinct_rows(rows: IntArray) -> tuple[IntArray, IntArray]:
    """The distinct rows in lexicographic order, and (len(rows),) the place of each row among them."""
    keys = row_keys(rows)
    _, first, places = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first], places.astype(np.int64)


def row_keys(rows: IntArray) -> IntArray:
    """(len(rows),) a number for each row of codes from `STAR` up, equal for equal rows and in their order."""
    keys, size = np.zeros(len(rows), dtype=np.int64), 1
    for column in rows.T:
        digits, width = column - STAR, int(column.max(initial=STAR)) - STAR + 1
        if size * width > _LARGEST_KEY:
            (keys, size), (digits, width) = _ranked(keys), _ranked(digits)
        keys = keys * width + digits
        size *= width
    return keys


def _ranked(keys: IntArray) -> tuple[IntArray, int]:
    occurring, ranks = np.unique(keys, return_inverse=True)
    return ranks.astype(np.int64), len(occurring)


def _refuse_misshapen(codes: IntArray, clusters: IntArray) -> None:
    if codes.ndim != 2 or not codes.size:  # noqa: PLR2004 - a table has two axes
        raise ValueError(f"there must be a record and an attribute to hide, not an array of shape {codes.shape}")
    if clusters.shape != codes.shape[:1]:
        raise ValueError(f"every record must have a cluster: {len(codes)} records, clusters of shape {clusters.shape}")
    if codes.min() < 0 or clusters.min() < 0:
        raise ValueError("codes and clusters are numbers from 0")
