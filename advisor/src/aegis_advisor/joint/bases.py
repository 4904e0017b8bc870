"""Masked attributes in coordinates in which a table of counts is a table of correlations."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """An orthonormal basis of the functions of a masked value that are 0 on average.

    With shares `p` of the masked values, the columns of `Q diag(p)^-1/2` are such a basis where those of `Q` are
    orthonormal and orthogonal to `sqrt(p)`. `Q` is a Householder reflection without one of its columns, and is applied
    without being formed: it would be square in the number of masked values.

    Attributes:
        held: (n,) the masked values that have records.
        root: (n,) `sqrt(p)` of each.
        axis: (n,) along which the reflection takes the unit vector of `pivot` to minus `root`.
        pivot: the most frequent of them.
    """

    held: IntArray
    root: FloatArray
    axis: FloatArray
    pivot: int

    @classmethod
    def of(cls, counts: IntArray) -> Self:
        """The basis of a masked attribute with these counts (groups,), which have records."""
        held = np.flatnonzero(counts)
        root = np.sqrt(counts[held] / counts.sum())
        pivot = int(root.argmax())
        axis = root.copy()
        axis[pivot] += 1.0  # of both signs the one that cancels no digits
        return cls(held, root, axis, pivot)

    @property
    def size(self) -> int:
        """How many dimensions it has: masked values with records, less one."""
        return self.held.size - 1

    def project(self, table: FloatArray) -> FloatArray:
        """The table (groups, n) with its rows in this basis: (size, n)."""
        scaled = table[self.held] / self.root[:, np.newaxis]
        scaled -= np.outer(self.axis * (2 / (self.axis @ self.axis)), self.axis @ scaled)
        return np.delete(scaled, self.pivot, axis=0)


def correlations(joint: IntArray, rows: Basis, columns: Basis) -> FloatArray:
    """The correlations (size of rows, size of columns) of two masked attributes, from their joint counts.

    No mean is subtracted: both bases are orthogonal to what it would take away.
    """
    projected = rows.project(joint / joint.sum())
    return columns.project(projected.T).T
