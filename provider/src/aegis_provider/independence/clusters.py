"""Clusters of equal size, made from the attributes that others are hidden from (Tao et al. 2010, step 1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from aegis_provider.independence.vectors import FloatArray, IntArray, cheapest_flow, distinct_rows

_ROUNDS = 20

#: The rounds end after one that reduces the distances of records to their centres by less than this share.
_GAIN = 1e-4

#: The largest distance as a cost; costs are integers.
_STEPS = 1 << 16


@dataclass(frozen=True, eq=False)
class Numbers:
    """A column of numbers. `values`: (rows,) The values, scaled to a variance of 1 over all records, or all 0."""

    values: FloatArray

    def distances(self, shares: FloatArray) -> FloatArray:
        """(rows, clusters) Squared distances from the clusters' means, by the rows' (rows, clusters) shares."""
        squares: FloatArray = (self.values[:, None] - self.values @ shares) ** 2
        return squares


@dataclass(frozen=True, eq=False)
class Codes:
    """A column of values without order.

    `values`: (rows,) The codes, from 0; `weight`: the weight that gives the indicators of all codes together a variance
    of 1, or of 0.
    """

    values: IntArray
    weight: float

    def distances(self, shares: FloatArray) -> FloatArray:
        """(rows, clusters) Squared distances as in `Numbers.distances`, of indicators; `shares` are their means."""
        means = np.zeros((int(self.values.max()) + 1, shares.shape[1]))
        np.add.at(means, self.values, shares)
        squares: FloatArray = self.weight * (1 - 2 * means[self.values] + (means**2).sum(axis=0))
        return squares


Feature: TypeAlias = Numbers | Codes


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """The distinct rows of some columns.

    The distance of two records is the sum over columns of the squared differences of their numbers, or of the
    indicators of their codes. Every column is scaled to a variance of 1, so that all have equal weight. `counts`:
    (rows,) The number of records with each row.
    """

    columns: tuple[Feature, ...]
    counts: IntArray

    @classmethod
    def of(cls, columns: Sequence[FloatArray | IntArray]) -> tuple["DistinctRows", IntArray]:
        """Return the distinct rows, and (n,) the row of each record.

        `columns`: (n,) each; floats are numbers, integers are codes.

        Raises:
            ValueError: A number is not finite.
        """
        _, row_of_record = distinct_rows(np.column_stack([_ranks(column) for column in columns]))
        first = np.unique(row_of_record, return_index=True)[1]
        return cls(tuple(_feature(column, first) for column in columns), np.bincount(row_of_record)), row_of_record

    def distances(self, amounts: IntArray) -> FloatArray:
        """(rows, clusters) Distances from each row to the mean of each cluster, by (rows, clusters) amounts."""
        shares = amounts / amounts.sum(axis=0)
        # Rounding can make a distance slightly negative.
        return np.maximum(sum((column.distances(shares) for column in self.columns), np.zeros(amounts.shape)), 0)


def _ranks(column: FloatArray | IntArray) -> IntArray:
    if not np.isfinite(column).all():
        raise ValueError("all numbers must be finite")
    return np.unique(column, return_inverse=True)[1].astype(np.int64)


def _feature(column: FloatArray | IntArray, first: IntArray) -> Feature:
    """Return the values of the records `first`, scaled to mean 0 and variance 1 over all records, or all 0."""
    if np.issubdtype(column.dtype, np.floating):
        numbers = column.astype(np.float64)
        small = numbers / (np.abs(numbers).max() or 1.0)  # since squares of large ones overflow
        centred = small - small.mean()
        spread = np.sqrt(np.mean(centred**2))
        return Numbers((centred / spread if spread > 0 else np.zeros_like(centred))[first])
    ranks = _ranks(column)
    shares = np.bincount(ranks) / len(ranks)
    return Codes(ranks[first], 1 / (1 - float(shares @ shares)) if len(shares) > 1 else 0.0)


def quantile_clusters(values: FloatArray, clusters: int, random: np.random.Generator) -> IntArray:
    """Form intervals with equally many records: (n,) -> (n,) 0 .. clusters-1, with smaller numbers in earlier clusters.

    Records with the same number at the end of an interval are divided at random.

    Raises:
        ValueError: Clusters of equal size are impossible, or a number is not finite.
    """
    size = _size(len(values), clusters)
    if not np.isfinite(values).all():
        raise ValueError("all numbers must be finite")
    numbers = np.empty(len(values), dtype=np.int64)
    numbers[np.lexsort((random.permutation(len(values)), values))] = np.arange(len(values)) // size
    return numbers


def balanced_clusters(columns: Sequence[FloatArray | IntArray], clusters: int, random: np.random.Generator) -> IntArray:
    """Form clusters of several attributes with equally many records: columns (n,) -> (n,) 0 .. clusters-1.

    This is balanced k-means (Malinen and Franti 2014). A transportation problem assigns equally many records to each
    centre at the least total distance (`DistinctRows`), and each centre becomes the mean of its records. This repeats
    until the gain is small. The first centres are drawn far from each other (k-means++, Arthur and Vassilvitskii 2007).
    Clusters are numbered by their means of the first column. `columns`: (n,) each; floats are numbers, integers are
    codes of values without order.

    Raises:
        ValueError: Clusters of equal size are impossible, there are no columns, or a number is not finite.
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
    # Equal records are divided at random.
    records = random.permutation(len(row_of_record))
    by_row = records[np.argsort(row_of_record[records], kind="stable")]
    numbers = np.empty(len(by_row), dtype=np.int64)
    numbers[by_row] = np.repeat(np.tile(np.arange(clusters), len(ordered)), ordered.ravel())
    return numbers


def _far_apart(rows: DistinctRows, clusters: int, random: np.random.Generator) -> IntArray:
    """(rows, clusters) A record for each cluster, drawn in proportion to its distance from those drawn before."""
    drawn = np.zeros((len(rows.counts), clusters), dtype=np.int64)
    chances = rows.counts.astype(np.float64)
    for cluster in range(clusters):
        drawn[random.choice(len(chances), p=chances / chances.sum()), cluster] = 1
        far = rows.distances(drawn[:, : cluster + 1]).min(axis=1) * rows.counts
        # If every record equals one already drawn, any will do.
        chances = far if far.any() else rows.counts.astype(np.float64)
    return drawn


def _assigned(rows: DistinctRows, distances: FloatArray, size: int) -> tuple[IntArray, float]:
    """(rows, clusters) The number of each row's records in each cluster of `size`, and the sum of their distances."""
    count, clusters = distances.shape
    tails, heads = np.repeat(np.arange(count), clusters), np.tile(count + np.arange(clusters), count)
    costs = np.rint(distances * (_STEPS / (distances.max() or 1.0))).astype(np.int64)
    supplies = np.concatenate([rows.counts, np.full(clusters, -size)])
    flows = cheapest_flow(tails, heads, np.repeat(rows.counts, clusters), costs.ravel(), supplies)
    amounts = flows.reshape(count, clusters)
    return amounts, float(np.sum(amounts * distances))


def _size(records: int, clusters: int) -> int:
    """Return the number of records of each cluster."""
    if clusters < 1:
        raise ValueError(f"the number of clusters must be 1 or more, not {clusters}")
    if clusters > records:
        raise ValueError(f"{records} records cannot make {clusters} clusters")
    if over := records % clusters:
        raise ValueError(f"{records} records cannot make {clusters} clusters of equal size; leave {over} out")
    return records // clusters
