"""Orthonormal functions of masked values, and how those of two masked attributes correlate."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """An orthonormal basis of the functions of a masked value with mean 0.

    With shares `p` of the masked values, the columns of `Q diag(p)^-1/2` are such a basis if those of `Q` are
    orthonormal and orthogonal to `sqrt(p)`. `Q` is a Householder reflection without one of its columns. It is applied
    without being formed, since its size would be the square of the number of masked values. Only `spread`
    and `products`, for inexact counts, apply it to as many columns.

    Attributes:
        held: (n,) the masked values with records.
        root: (n,) `sqrt(p)` of each.
        axis: (n,) the axis of the reflection, which takes the unit vector of `pivot` to minus `root`.
        pivot: the most frequent of them.
    """

    held: IntArray
    root: FloatArray
    axis: FloatArray
    pivot: int

    @classmethod
    def of(cls, counts: IntArray) -> Self:
        """Return the basis of a masked attribute with these counts (groups,), which must have records."""
        held = np.flatnonzero(counts)
        root = np.sqrt(counts[held] / counts.sum())
        pivot = int(root.argmax())
        axis = root.copy()
        axis[pivot] += 1.0  # the other sign would cancel digits
        return cls(held, root, axis, pivot)

    @property
    def size(self) -> int:
        """The number of dimensions: masked values with records, minus one."""
        return self.held.size - 1

    def project(self, table: FloatArray) -> FloatArray:
        """Express the rows of a table (groups, n) in this basis: (size, n)."""
        scaled = table[self.held] / self.root[:, np.newaxis]
        scaled -= np.outer(self.axis * (2 / (self.axis @ self.axis)), self.axis @ scaled)
        return np.delete(scaled, self.pivot, axis=0)

    def products(self) -> FloatArray:
        """(size, size) the products of every two functions, summed over the masked values."""
        functions = self.project(np.eye(int(self.held.max()) + 1))[:, self.held]
        return np.asarray(functions @ functions.T)

    def spread(self, least: float = 0.0) -> FloatArray:
        """(size,) the sum of squares of each function over the masked values with at least this share of the records.

        With independent errors of variance `v` in the counts of `n` records, the correlation of two functions varies
        by `v / n^2` times the product of theirs.
        """
        every = self.project(np.eye(int(self.held.max()) + 1))[:, self.held]
        return np.asarray(np.sum(np.square(every[:, np.square(self.root) >= least]), axis=1))


def correlation(joint: IntArray | FloatArray, rows: Basis, columns: Basis, *, exact: bool = True) -> FloatArray:
    """The correlations (size of rows, size of columns) of two masked attributes, from their joint counts.

    No mean needs to be subtracted if the counts are exact, since all functions in both bases have mean 0. Sums of
    inexact counts differ from those of the bases, so what these sums alone explain is subtracted.
    """
    shares = joint / max(float(joint.sum()), 1.0)
    if not exact:
        shares -= np.outer(shares.sum(axis=1), shares.sum(axis=0))
    projected = rows.project(shares)
    return columns.project(projected.T).T
