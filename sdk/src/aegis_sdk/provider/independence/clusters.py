"""Equally large clusters of the attributes that others are to be independent of (Tao et al. 2010, step 1)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aegis_sdk.provider.independence.flow import cheapest_flow
from aegis_sdk.provider.independence.vectors import FloatArray, IntArray, distinct_rows

_ROUNDS = 20
#: Costs in whole numbers: the largest distance is so many.
_STEPS = 1 << 20


def quantile_clusters(values: FloatArray, clusters: int, random: np.random.Generator) -> IntArray:
    """
    Intervals of a number with equally many records: (n,) -> (n,) 0 .. clusters-1, smaller numbers in smaller ones.

    Which of the records with equal numbers at an end of an interval are in which is drawn.

    Raises `ValueError` where there are no equally large clusters, or a value is not finite.
    """
    size = _size(len(values), clusters)
    if not np.isfinite(values).all():
        raise ValueError("all numbers must be finite")
    found = np.empty(len(values), dtype=np.int64)
    found[np.lexsort((random.permutation(len(values)), values))] = np.arange(len(values)) // size
    return found


def balanced_clusters(columns: Sequence[FloatArray | IntArray], clusters: int, random: np.random.Generator) -> IntArray:
    """
    Clusters of several attributes with equally many records: columns (n,) -> (n,) 0 .. clusters-1.

    Columns of floats are numbers, columns of integers are codes from 0 of values without order. The distance of two records is
    the sum of the squared differences of the numbers and of the indicators of the values, each column scaled to a
    variance of 1. Balanced k-means (Malinen and Franti 2014): records are assigned to given centres at least distance,
    as many to each, which is a transportation problem; centres become the means of theirs; until nothing is gained.
    First centres are drawn far from each other (k-means++, Arthur and Vassilvitskii 2007). Clusters are numbered by their
    centres in the first column.

    Raises `ValueError` where there are no equally large clusters, no columns, or a number is not finite.
    """
    size = _size(len(columns[0]) if columns else 0, clusters)
    rows, row_of_record = _Rows.of(columns)
    amounts, spread = _assigned(rows, rows.distances(_far_apart(rows, clusters, random)), size)
    for _ in range(_ROUNDS):
        closer, less = _assigned(rows, rows.distances(amounts), size)
        if less >= spread:
            break
        amounts, spread = closer, less
    ordered = amounts[:, np.argsort(amounts.T @ rows.first, kind="stable")]
    return _handed_out(ordered, row_of_record, random)


@dataclass(frozen=True, eq=False)
class _Rows:
    """
    Distinct rows: `numbers` (rows, columns) scaled to variance 1; `codes` (rows, columns) and the `weights` (columns,) that
    do the same for them; `counts`: (rows,) records; `first`: (rows,) the first column.
    """

    numbers: FloatArray
    codes: IntArray
    weights: FloatArray
    counts: IntArray
    first: FloatArray

    @classmethod
    def of(cls, columns: Sequence[FloatArray | IntArray]) -> tuple["_Rows", IntArray]:
        """The distinct rows, and (n,) the one of each record."""
        places, row_of_record = distinct_rows(np.column_stack([_ranks(each) for each in columns]))
        first = np.unique(row_of_record, return_index=True)[1]
        numbers = [_standardised(each) for each in columns if each.dtype.kind == "f"]
        codes = [ranks for ranks, each in zip(places.T, columns, strict=True) if each.dtype.kind != "f"]
        weights = [_weight(each) for each in columns if each.dtype.kind != "f"]
        return cls(
            np.array([each[first] for each in numbers]).reshape(-1, len(first)).T,
            np.array(codes, dtype=np.int64).reshape(-1, len(first)).T,
            np.array(weights),
            np.bincount(row_of_record),
            numbers[0][first] if columns[0].dtype.kind == "f" else places[:, 0].astype(np.float64),
        ), row_of_record

    def distances(self, amounts: IntArray) -> FloatArray:
        """
        (rows, clusters) the distance of each row to the mean of each cluster; `amounts`: records of a row in a cluster.

        Means of indicators are shares of values, so indicators need not be written out.
        """
        shares = amounts / amounts.sum(axis=0)
        found = np.zeros(amounts.shape)
        for numbers in self.numbers.T:
            found += (numbers[:, None] - numbers @ shares) ** 2
        for codes, weight in zip(self.codes.T, self.weights, strict=True):
            of_value = np.zeros((int(codes.max()) + 1, amounts.shape[1]))
            np.add.at(of_value, codes, shares)
            found += weight * (1 - 2 * of_value[codes] + (of_value**2).sum(axis=0))
        return np.maximum(found, 0)


def _far_apart(rows: _Rows, clusters: int, random: np.random.Generator) -> IntArray:
    """(rows, clusters) a record for each cluster, drawn in proportion to its squared distance from those before it."""
    drawn = np.zeros((len(rows.counts), clusters), dtype=np.int64)
    chances = rows.counts.astype(np.float64)
    for cluster in range(clusters):
        drawn[random.choice(len(chances), p=chances / chances.sum()), cluster] = 1
        nearest = rows.distances(drawn[:, : cluster + 1]).min(axis=1) * rows.counts
        # All records are equal to one that was drawn before: any will do.
        chances = nearest if nearest.any() else rows.counts.astype(np.float64)
    return drawn


def _assigned(rows: _Rows, distances: FloatArray, size: int) -> tuple[IntArray, float]:
    """(rows, clusters) how many records of each row are in each cluster, of `size` each, and their distances in all."""
    count, clusters = distances.shape
    tails, heads = np.repeat(np.arange(count), clusters), np.tile(count + np.arange(clusters), count)
    costs = np.rint(distances * (_STEPS / max(distances.max(), np.finfo(np.float64).tiny))).astype(np.int64)
    supplies = np.concatenate([rows.counts, np.full(clusters, -size)])
    flows = cheapest_flow(tails, heads, np.repeat(rows.counts, clusters), costs.ravel(), supplies)
    amounts = flows.reshape(count, clusters)
    return amounts, float(np.sum(amounts * distances))


def _handed_out(amounts: IntArray, row_of_record: IntArray, random: np.random.Generator) -> IntArray:
    """(n,) the cluster of each record; which of several equal records is in which is drawn."""
    records = random.permutation(len(row_of_record))
    by_row = records[np.argsort(row_of_record[records], kind="stable")]
    found = np.empty(len(by_row), dtype=np.int64)
    found[by_row] = np.repeat(np.tile(np.arange(amounts.shape[1]), len(amounts)), amounts.ravel())
    return found


def _ranks(column: FloatArray | IntArray) -> IntArray:
    if not np.isfinite(column).all():
        raise ValueError("all numbers must be finite")
    return np.unique(column, return_inverse=True)[1].astype(np.int64)


def _standardised(column: FloatArray) -> FloatArray:
    """Of mean 0 and variance 1, or all 0; first made small, since squares of large numbers overflow."""
    small = column / max(np.abs(column).max(), np.finfo(np.float64).tiny)
    spread = small.std()
    return (small - small.mean()) / spread if spread > 0 else np.zeros(len(column))


def _weight(codes: IntArray) -> float:
    """One over the sum of the variances of the indicators of all values; 0 where there is one value."""
    shares = np.unique(codes, return_counts=True)[1] / len(codes)
    variance = 1 - float(shares @ shares)
    return 1 / variance if len(shares) > 1 else 0.0


def _size(records: int, clusters: int) -> int:
    """How many records each cluster has."""
    if clusters < 1:
        raise ValueError(f"there must be a cluster, not {clusters}")
    if clusters > records:
        raise ValueError(f"{records} records cannot make {clusters} clusters")
    if records % clusters:
        raise ValueError(
            f"{records} records cannot make {clusters} clusters of equally many; leave {records % clusters} out"
        )
    return records // clusters
