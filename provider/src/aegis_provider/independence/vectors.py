"""Records as vectors of codes: counts of the distinct vectors in each cluster, and the masked values of groups."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

IntArray: TypeAlias = NDArray[np.int64]
FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]

_LARGEST_KEY = 1 << 62
_LARGEST_TABLE = 1 << 31

#: The code of a masked value. Masked values agree with no value, not even with each other.
MASKED = -1


@dataclass(frozen=True, eq=False)
class Vectors:
    """The distinct vectors of a table, and their counts in each cluster. All clusters have `groups` records.

    Attributes:
        values: (vectors, d) The codes, from 0.
        counts: (vectors, clusters) The number of records with each vector in each cluster.
        of_record: (n,) The vector of each record.
        cluster_of_record: (n,) The cluster of each record, from 0.
    """

    values: IntArray
    counts: IntArray
    of_record: IntArray
    cluster_of_record: IntArray

    @classmethod
    def of(cls, codes: IntArray, clusters: IntArray) -> "Vectors":
        """Return the vectors of some records.

        Args:
            codes: (n, d) A number from 0 for each value.
            clusters: (n,) 0 .. u-1, all equally often.

        Raises:
            ValueError: A shape is wrong, a code is negative, there are no records, or the clusters differ in size.
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
        """The number of hidden attributes: d."""
        return int(self.values.shape[1])

    @property
    def clusters(self) -> int:
        """The number of clusters: u."""
        return int(self.counts.shape[1])

    @property
    def groups(self) -> int:
        """The number of groups with a record of each cluster: n / u."""
        return int(self.counts[:, 0].sum())

    def group_of_record(self, members: IntArray, random: np.random.Generator) -> IntArray:
        """(n,) The group of each record. Equal records of a cluster are assigned to their groups at random.

        Args:
            members: (groups, u) The vector of each group's record of each cluster.
            random: The generator for all draws.
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
    """(groups, d) The code that all vectors of a group share in each attribute, `MASKED` where they disagree.

    Args:
        values: (vectors, d) The codes.
        members: (groups, any number of clusters) The places of the vectors.
    """
    least = values[members[:, 0]]
    most = least
    for column in members.T[1:]:
        least, most = np.minimum(least, values[column]), np.maximum(most, values[column])
    return np.where(least == most, least, MASKED)


def stars_of(vectors: Vectors, members: IntArray) -> int:
    """Return the number of masked values: one per record for every attribute on which its group disagrees."""
    return vectors.clusters * int(np.count_nonzero(common_codes(vectors.values, members) == MASKED))


def starred(codes: IntArray, group_of_record: IntArray) -> BoolArray:
    """(n, d) Whether each value is masked, since the records of its group disagree on the attribute.

    Args:
        codes: (n, d) A number for each value.
        group_of_record: (n,) The group of each record, from 0; no group is empty.
    """
    order = np.argsort(group_of_record, kind="stable")
    starts = np.flatnonzero(np.diff(group_of_record[order], prepend=-1))
    ordered = codes[order]
    disagree = np.minimum.reduceat(ordered, starts) != np.maximum.reduceat(ordered, starts)
    stars: BoolArray = disagree[group_of_record]
    return stars


def masked_codes(codes: IntArray, stars: BoolArray) -> IntArray:
    """(n, d) The codes, with `MASKED` for masked values."""
    return np.where(stars, MASKED, codes)


def is_independent(vectors: IntArray, clusters: IntArray) -> bool:
    """Return whether Pr[a, b] = Pr[a] Pr[b] holds exactly for all vectors a and clusters b.

    The test is n count(a, b) = count(a) count(b). A vector and a cluster that both occur must occur together, since the
    product of their counts is not 0.

    Args:
        vectors: (n, d) The codes from `MASKED` up; `MASKED` is a value like any other.
        clusters: (n,) The codes from 0.

    Raises:
        ValueError: There are 2^31 records or more, so the products may not be exact.
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
    """(rows, d) Whether both have the same code, and it is not a star."""
    agree: BoolArray = (left == right) & (left != MASKED)
    return agree


def disagreements(left: IntArray, right: IntArray) -> IntArray:
    """(rows,) The number of attributes on which rows of codes disagree; a star disagrees with everything."""
    distances: IntArray = (~agreements(left, right)).sum(axis=-1)
    return distances


def distinct_rows(rows: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct rows in lexicographic order, and (len(rows),) the place of each row among them."""
    keys = row_keys(rows)
    _, first, places = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first], places.astype(np.int64)


def row_keys(rows: IntArray) -> IntArray:
    """(len(rows),) A number for each row of codes from `MASKED` up, equal for equal rows and in the rows' order."""
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
