"""Records as vectors of codes: distinct ones counted in each cluster, and what is masked of grouped ones."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

IntArray: TypeAlias = NDArray[np.int64]
FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]

_LARGEST_KEY = 1 << 62
_LARGEST_TABLE = 1 << 31

#: The code of a masked value, which agrees with nothing, itself included.
MASKED = -1


@dataclass(frozen=True, eq=False)
class Vectors:
    """The distinct vectors of a table, and how often each cluster has each. All clusters have `groups` records.

    Attributes:
        values: (vectors, d) codes from 0.
        counts: (vectors, clusters).
        of_record: (n,) the vector of each record.
        cluster_of_record: (n,) from 0.
    """

    values: IntArray
    counts: IntArray
    of_record: IntArray
    cluster_of_record: IntArray

    @classmethod
    def of(cls, codes: IntArray, clusters: IntArray) -> "Vectors":
        """The vectors of some records.

        Args:
            codes: (n, d) a number from 0 for each value.
            clusters: (n,) 0 .. u-1, each as often as the others.

        Raises:
            ValueError: Another shape, a negative code, no records, or clusters of different sizes.
        """
        _refuse_misshapen(codes, clusters)
        values, of_record = distinct_rows(codes)
        counts = np.zeros((len(values), int(clusters.max()) + 1), dtype=np.int64)
        np.add.at(counts, (of_record, clusters), 1)
        sizes = counts.sum(axis=0)
        if np.any(sizes != sizes[0]):
            raise ValueError(f"clusters must be of equal size, but have {sizes.min()} to {sizes.max()} records")
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

    def group_of_record(self, members: IntArray, random: np.random.Generator) -> IntArray:
        """(n,) the group of each record. Which of several equal records of a cluster goes to which group is drawn.

        Args:
            members: (groups, u) the vector of each group's record of each cluster.
            random: What the draws come from.
        """
        groups = np.empty(len(self.of_record), dtype=np.int64)
        for cluster in range(self.clusters):
            records = random.permutation(np.flatnonzero(self.cluster_of_record == cluster))
            by_vector = records[np.argsort(self.of_record[records], kind="stable")]
            groups[by_vector] = np.argsort(members[:, cluster], kind="stable")
        return groups


def _refuse_misshapen(codes: IntArray, clusters: IntArray) -> None:
    if codes.ndim != 2 or not codes.size:  # noqa: PLR2004 - a table has two axes
        raise ValueError(f"codes must hold a record and an attribute to hide; their shape is {codes.shape}")
    if clusters.shape != codes.shape[:1]:
        raise ValueError(f"every record must have a cluster: {len(codes)} records, clusters of shape {clusters.shape}")
    if codes.min() < 0 or clusters.min() < 0:
        raise ValueError("codes and clusters must be 0 or more")


def common_codes(values: IntArray, members: IntArray) -> IntArray:
    """(groups, d) the code that all vectors of a group have in an attribute, `MASKED` where they disagree.

    Args:
        values: (vectors, d) codes.
        members: (groups, any number of clusters) places of vectors.
    """
    least = values[members[:, 0]]
    most = least
    for column in members.T[1:]:
        least, most = np.minimum(least, values[column]), np.maximum(most, values[column])
    return np.where(least == most, least, MASKED)


def stars_of(vectors: Vectors, members: IntArray) -> int:
    """How many values are masked: for every attribute on which a group disagrees, one in each of its records."""
    return vectors.clusters * int(np.count_nonzero(common_codes(vectors.values, members) == MASKED))


def starred(codes: IntArray, group_of_record: IntArray) -> BoolArray:
    """(n, d) whether a value is masked: the records of its group disagree on this attribute.

    Args:
        codes: (n, d) a number for each value.
        group_of_record: (n,) from 0; every group has a record.
    """
    order = np.argsort(group_of_record, kind="stable")
    starts = np.flatnonzero(np.diff(group_of_record[order], prepend=-1))
    ordered = codes[order]
    disagree = np.minimum.reduceat(ordered, starts) != np.maximum.reduceat(ordered, starts)
    stars: BoolArray = disagree[group_of_record]
    return stars


def masked_codes(codes: IntArray, stars: BoolArray) -> IntArray:
    """(n, d) the codes, with `MASKED` where they are masked."""
    return np.where(stars, MASKED, codes)


def is_independent(vectors: IntArray, clusters: IntArray) -> bool:
    """Whether Pr[a, b] = Pr[a] Pr[b] for all vectors a and clusters b, exactly: n count(a, b) = count(a) count(b).

    A vector and a cluster that both occur must meet, since the product of their counts is not 0.

    Args:
        vectors: (n, d) codes from `MASKED` up, `MASKED` being a value as any other.
        clusters: (n,) codes from 0.

    Raises:
        ValueError: There are 2^31 records or more, whose products could not be told exactly.
    """
    if len(vectors) >= _LARGEST_TABLE:
        raise ValueError(f"{len(vectors)} records are too many")
    _, vector = distinct_rows(vectors)
    _, cluster = distinct_rows(clusters.reshape(-1, 1))
    pairs, joint = np.unique(np.column_stack([vector, cluster]), axis=0, return_counts=True)
    of_vector, of_cluster = np.bincount(vector), np.bincount(cluster)
    product = of_vector[pairs[:, 0]] * of_cluster[pairs[:, 1]]
    return len(pairs) == len(of_vector) * len(of_cluster) and bool(np.all(joint * len(vectors) == product))


def agreements(left: IntArray, right: IntArray) -> BoolArray:
    """(rows, d) where both have the same code, and it is no star."""
    agree: BoolArray = (left == right) & (left != MASKED)
    return agree


def disagreements(left: IntArray, right: IntArray) -> IntArray:
    """(rows,) on how many attributes rows of codes disagree; a star disagrees."""
    distances: IntArray = (~agreements(left, right)).sum(axis=-1)
    return distances


def distinct_rows(rows: IntArray) -> tuple[IntArray, IntArray]:
    """The distinct rows in lexicographic order, and (len(rows),) the place of each row among them."""
    keys = row_keys(rows)
    _, first, places = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first], places.astype(np.int64)


def row_keys(rows: IntArray) -> IntArray:
    """(len(rows),) a number for each row of codes from `MASKED` up, equal for equal rows and in their order."""
    keys, size = np.zeros(len(rows), dtype=np.int64), 1
    for column in rows.T:
        digits, width = column - MASKED, int(column.max(initial=MASKED)) - MASKED + 1
        if size * width > _LARGEST_KEY:
            (keys, size), (digits, width) = _ranked(keys), _ranked(digits)
        keys = keys * width + digits
        size *= width
    return keys


def _ranked(keys: IntArray) -> tuple[IntArray, int]:
    occurring, ranks = np.unique(keys, return_inverse=True)
    return ranks.astype(np.int64), len(occurring)
