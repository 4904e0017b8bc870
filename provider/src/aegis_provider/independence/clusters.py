"""Equally large clusters of the attributes that others are to be independent of (Tao et al. 2010, step 1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from aegis_provider.independence.transportation import cheapest_flow
from aegis_provider.independence.vectors import FloatArray, IntArray, distinct_rows

_ROUNDS = 20

#: A round that brings records nearer to their centres by less than this share is the last.
_GAIN = 1e-4

#: Costs are whole numbers: the largest distance is so many.
_STEPS = 1 << 16


@dataclass(frozen=True, eq=False)
class Numbers:
    """A column of numbers.

    Attributes:
        values: (rows,) over all records of variance 1, or all 0.
    """

    values: FloatArray

    def distances(self, shares: FloatArray) -> FloatArray:
        """(rows, clusters) squared, from the clusters' means; `shares`: (rows, clusters) of a cluster's records."""
        squares: FloatArray = (self.values[:, None] - self.values @ shares) ** 2
        return squares


@dataclass(frozen=True, eq=False)
class Codes:
    """A column of values that have no order.

    Attributes:
        values: (rows,) codes from 0.
        weight: Gives the indicators of all codes together a variance of 1, or of 0.
    """

    values: IntArray
    weight: float

    def distances(self, shares: FloatArray) -> FloatArray:
        """As `Numbers.distances`, of the indicators, whose means are the shares of the codes."""
        means = np.zeros((int(self.values.max()) + 1, shares.shape[1]))
        np.add.at(means, self.values, shares)
        squares: FloatArray = self.weight * (1 - 2 * means[self.values] + (means**2).sum(axis=0))
        return squares


Feature: TypeAlias = Numbers | Codes


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """The distinct rows of some columns.

    The distance of two records is the sum over columns of the squared differences of their numbers, or of the
    indicators of their codes. Every column is scaled to a variance of 1, so that all weigh the same.

    Attributes:
        columns: What the rows hold.
        counts: (rows,) how many records have each.
    """

    columns: tuple[Feature, ...]
    counts: IntArray

    @classmethod
    def of(cls, columns: Sequence[FloatArray | IntArray]) -> tuple["DistinctRows", IntArray]:
        """The distinct rows, and (n,) the one of each record; `columns`: (n,) floats are numbers, integers are codes.

        Raises:
            ValueError: A number is not finite.
        """
        _, row_of_record = distinct_rows(np.column_stack([_ranks(each) for each in columns]))
        first = np.unique(row_of_record, return_index=True)[1]
        return cls(tuple(_feature(each, first) for each in columns), np.bincount(row_of_record)), row_of_record

    def distances(self, amounts: IntArray) -> FloatArray:
        """(rows, clusters) from each row to the mean of each cluster, which has so many records of each row."""
        shares = amounts / amounts.sum(axis=0)
        # Rounding can leave a little less than nothing.
        return np.maximum(sum((each.distances(shares) for each in self.columns), np.zeros(amounts.shape)), 0)


def _ranks(column: FloatArray | IntArray) -> IntArray:
    if not np.isfinite(column).all():
        raise ValueError("all numbers must be finite")
    return np.unique(column, return_inverse=True)[1].astype(np.int64)


def _feature(column: FloatArray | IntArray, first: IntArray) -> Feature:
    """The column's values of the records `first`, scaled by those of all records."""
    if np.issubdtype(column.dtype, np.floating):
        return Numbers(_standardised(column.astype(np.float64))[first])
    ranks = _ranks(column)
    shares = np.bincount(ranks) / len(ranks)
    return Codes(ranks[first], 1 / (1 - float(shares @ shares)) if len(shares) > 1 else 0.0)


def _standardised(column: FloatArray) -> FloatArray:
    """Of mean 0 and variance 1, or all 0; first made small, since squares of large numbers overflow."""
    small = column / (np.abs(column).max() or 1.0)
    centred = small - small.mean()
    spread = np.sqrt(np.mean(centred**2))
    scaled: FloatArray = centred / spread if spread > 0 else np.zeros_like(centred)
    return scaled


def quantile_clusters(values: FloatArray, clusters: int, random: np.random.Generator) -> IntArray:
    """Intervals of a number with equally many records: (n,) -> (n,) 0 .. clusters-1, smaller numbers in smaller ones.

    Which of the records with equal numbers at an end of an interval are in which is drawn.

    Raises:
        ValueError: There are no equally large clusters, or a number is not finite.
    """
    size = _size(len(values), clusters)
    if not np.isfinite(values).all():
        raise ValueError("all numbers must be finite")
    numbers = np.empty(len(values), dtype=np.int64)
    numbers[np.lexsort((random.permutation(len(values)), values))] = np.arange(len(values)) // size
    return numbers


def balanced_clusters(columns: Sequence[FloatArray | IntArray], clusters: int, random: np.random.Generator) -> IntArray:
    """Clusters of several attributes with equally many records: columns (n,) -> (n,) 0 .. clusters-1.

    Balanced k-means (Malinen and Franti 2014): records are assigned to centres at the least distance (`DistinctRows`),
    equally many to each, which is a transportation problem; centres become the means of theirs; until little is gained.
    The first centres are drawn far from each other (k-means++, Arthur and Vassilvitskii 2007). Clusters are numbered by
    their means of the first column.

    Args:
        columns: (n,) each; floats are numbers, integers are codes of values that have no order.
        clusters: How many clusters to make.
        random: What the draws come from.

    Raises:
        ValueError: There are no equally large clusters, no columns, or a number is not finite.
    """
    size = _size(len(columns[0]) if columns else 0, clusters)
    rows, row_of_record = DistinctRows.of(columns)
    amounts, spread = _assigned(rows, rows.distances(_far_apart(rows, clusters, random)), size)
    for _ in range(_ROUNDS):
        nearer, less = _assigned(rows, rows.distances(amounts), size)
        if less >= spread * (1 - _GAIN):
            break
        amounts, spread = nearer, less
    ordered = amounts[:, np.argsort(rows.columns[0].values @ amounts, kind="stable")]
    return _cluster_of_record(ordered, row_of_record, random)


def _far_apart(rows: DistinctRows, clusters: int, random: np.random.Generator) -> IntArray:
    """(rows, clusters) a record for each cluster, drawn in proportion to its distance from those drawn before."""
    drawn = np.zeros((len(rows.counts), clusters), dtype=np.int64)
    chances = rows.counts.astype(np.float64)
    for cluster in range(clusters):
        drawn[random.choice(len(chances), p=chances / chances.sum()), cluster] = 1
        far = rows.distances(drawn[:, : cluster + 1]).min(axis=1) * rows.counts
        # Where every record equals one that was drawn, any will do.
        chances = far if far.any() else rows.counts.astype(np.float64)
    return drawn


def _assigned(rows: DistinctRows, distances: FloatArray, size: int) -> tuple[IntArray, float]:
    """(rows, clusters) how many records of each row are in each cluster, of `size` each, and their distances in all."""
    count, clusters = distances.shape
    tails, heads = np.repeat(np.arange(count), clusters), np.tile(count + np.arange(clusters), count)
    costs = np.rint(distances * (_STEPS / (distances.max() or 1.0))).astype(np.int64)
    supplies = np.concatenate([rows.counts, np.full(clusters, -size)])
    flows = cheapest_flow(tails, heads, np.repeat(rows.counts, clusters), costs.ravel(), supplies)
    amounts = flows.reshape(count, clusters)
    return amounts, float(np.sum(amounts * distances))


def _cluster_of_record(amounts: IntArray, row_of_record: IntArray, random: np.random.Generator) -> IntArray:
    """(n,) the cluster of each record; which of several equal records is in which is drawn."""
    records = random.permutation(len(row_of_record))
    by_row = records[np.argsort(row_of_record[records], kind="stable")]
    numbers = np.empty(len(by_row), dtype=np.int64)
    numbers[by_row] = np.repeat(np.tile(np.arange(amounts.shape[1]), len(amounts)), amounts.ravel())
    return numbers


def _size(records: int, clusters: int) -> int:
    """How many records each cluster has."""
    if clusters < 1:
        raise ValueError(f"the number of clusters must be 1 or more, not {clusters}")
    if clusters > records:
        raise ValueError(f"{records} records cannot make {clusters} clusters")
    if over := records % clusters:
        raise ValueError(f"{records} records cannot make {clusters} clusters of equal size; leave {over} out")
    return records // clusters
