"""Orthonormal functions of masked values, and the correlations between those of two masked attributes."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """An orthonormal basis of the functions of a masked value with mean 0.

    With shares `p` of the masked values, the columns of `Q diag(p)^-1/2` are such a basis if those of `Q` are
    orthonormal and orthogonal to `sqrt(p)`. `Q` is a Householder reflection without one of its columns. It is applied
    without being formed, since it has as many entries as the square of the number of masked values. Only `spread` and
    `products`, for inexact counts, apply it to that many columns.

    Masked values with few records can be pooled with their neighbours. All functions are then equal on them.

    Attributes:
        held: (n,) the masked values with records.
        pool: (n,) the pool of each, from 0; one pool each without pooling.
        root: (pools,) `sqrt(p)` of each pool.
        axis: (pools,) the axis of the reflection, which takes the unit vector of `pivot` to minus `root`.
        pivot: the most frequent pool.
    """

    held: IntArray
    pool: IntArray
    root: FloatArray
    axis: FloatArray
    pivot: int

    @classmethod
    def of(cls, counts: IntArray | FloatArray, least: float = 0.0) -> Self:
        """Return the basis of a masked attribute with these counts (groups,), not all 0.

        Neighbours are pooled until they have at least `least` records together.
        """
        held = np.flatnonzero(counts)
        pool = _pools(counts[held], least)
        root = np.sqrt(np.bincount(pool, counts[held]) / counts.sum())
        pivot = int(root.argmax())
        axis = root.copy()
        axis[pivot] += 1.0  # the other sign would cancel digits
        return cls(held, pool, root, axis, pivot)

    @property
    def size(self) -> int:
        """The number of dimensions: pools, minus one."""
        return self.root.size - 1

    def project(self, table: FloatArray) -> FloatArray:
        """Express the rows of a table (groups, n) in this basis: (size, n)."""
        held = table[self.held]
        if self.root.size < self.held.size:
            held = np.add.reduceat(held, np.flatnonzero(np.diff(self.pool, prepend=-1)), axis=0)
        scaled = held / self.root[:, np.newaxis]
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
        shares = np.square(self.root) / np.bincount(self.pool)
        return np.asarray(np.sum(np.square(every[:, shares[self.pool] >= least]), axis=1))


def _pools(counts: IntArray | FloatArray, least: float) -> IntArray:
    """(n,) The pool of each of these counts (n,); the remainder joins the last pool."""
    pool, records, number = np.zeros(counts.size, dtype=np.int64), 0.0, 0
    for place, count in enumerate(counts.tolist()):
        pool[place] = number
        records += count
        if records >= least:
            number, records = number + 1, 0.0
    return np.minimum(pool, max(number - 1, 0))


def correlation(joint: IntArray | FloatArray, rows: Basis, columns: Basis, *, exact: bool = True) -> FloatArray:
    """The correlations (size of rows, size of columns) of two masked attributes, from their joint counts.

    No mean needs to be subtracted if the counts are exact, since all functions in both bases have mean 0. Sums of
    inexact counts differ from those of the bases, so the part explained by these sums alone is subtracted.
    """
    shares = joint / max(float(joint.sum()), 1.0)
    if not exact:
        shares -= np.outer(shares.sum(axis=1), shares.sum(axis=0))
    projected = rows.project(shares)
    return columns.project(projected.T).T
