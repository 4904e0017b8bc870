"""How far records are from the means of clusters, in numbers and in values without order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from aegis_provider.independence.vectors import FloatArray, IntArray, distinct_rows


@dataclass(frozen=True, eq=False)
class Numbers:
    """`values`: (rows,) numbers, over all records of variance 1, or all 0."""

    values: FloatArray

    def distances(self, shares: FloatArray) -> FloatArray:
        """(rows, clusters) squared, from the clusters' means; `shares`: (rows, clusters) of a cluster's records."""
        found: FloatArray = (self.values[:, None] - self.values @ shares) ** 2
        return found


@dataclass(frozen=True, eq=False)
class Codes:
    """`values`: (rows,) codes from 0; `weight`: gives the indicators of all codes together a variance of 1, or of 0."""

    values: IntArray
    weight: float

    def distances(self, shares: FloatArray) -> FloatArray:
        """As `Numbers.distances`, of the indicators, whose means are the shares of the codes."""
        means = np.zeros((int(self.values.max()) + 1, shares.shape[1]))
        np.add.at(means, self.values, shares)
        found: FloatArray = self.weight * (1 - 2 * means[self.values] + (means**2).sum(axis=0))
        return found


Column: TypeAlias = Numbers | Codes


@dataclass(frozen=True, eq=False)
class Rows:
    """The distinct rows of some columns, and `counts`: (rows,) how many records have each.

    The distance of two records is the sum over columns of the squared differences of their numbers, or of the
    indicators of their codes. Every column is scaled to a variance of 1, so that all weigh the same.
    """

    columns: tuple[Column, ...]
    counts: IntArray

    @classmethod
    def of(cls, columns: Sequence[FloatArray | IntArray]) -> tuple["Rows", IntArray]:
        """The distinct rows, and (n,) the one of each record; `columns`: (n,) floats are numbers, integers are codes.

        Raises `ValueError` for a number that is not finite.
        """
        _, row_of_record = distinct_rows(np.column_stack([_ranks(each) for each in columns]))
        first = np.unique(row_of_record, return_index=True)[1]
        return cls(tuple(_column(each, first) for each in columns), np.bincount(row_of_record)), row_of_record

    def distances(self, amounts: IntArray) -> FloatArray:
        """(rows, clusters) from each row to the mean of each cluster, which has so many records of each row."""
        shares = amounts / amounts.sum(axis=0)
        # Rounding can leave a little less than nothing.
        return np.maximum(sum((each.distances(shares) for each in self.columns), np.zeros(amounts.shape)), 0)


def _ranks(column: FloatArray | IntArray) -> IntArray:
    if not np.isfinite(column).all():
        raise ValueError("all numbers must be finite")
    return np.unique(column, return_inverse=True)[1].astype(np.int64)


def _column(column: FloatArray | IntArray, first: IntArray) -> Column:
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
    found: FloatArray = centred / spread if spread > 0 else np.zeros_like(centred)
    return found
