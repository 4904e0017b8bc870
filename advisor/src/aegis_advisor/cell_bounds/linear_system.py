"""Limits of sums as rows of a matrix, part by part. Cells that are empty because a sum is 0 are left out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.cell_bounds.certain_sums import SumLimits


@dataclass(frozen=True, slots=True, eq=False)
class LinearSystem:
    """`least <= matrix @ cells <= most`, with every coefficient 0 or 1, and `0 <= cells <= upper`.

    Attributes:
        cells: (cells,) their indices in the flattened table (atoms, labels).
        matrix: (sums, cells).
        transposed: (cells, sums).
        least: (sums,) whole numbers as float64.
        most: (sums,) likewise; possibly infinite.
        upper: (cells,) the smallest upper limit of the sums that contain each cell.
    """

    cells: IntArray
    matrix: "scipy.sparse.csr_array"
    transposed: "scipy.sparse.csr_array"
    least: FloatArray
    most: FloatArray
    upper: FloatArray

    @classmethod
    def of(cls, limits: Sequence[SumLimits], rows: FloatArray | None, atoms: int, labels: int) -> Self | None:
        """Return all sums of a table (atoms, labels) with these rows (atoms,), over the cells that can have records.

        None if a sum with records has no such cell, so that no table fits.
        """
        matrix, least, most = _incidence(limits, rows, atoms, labels)
        upper = _smallest(matrix, most)
        cells = np.flatnonzero(upper > 0)
        matrix = matrix[:, cells]
        used = np.diff(matrix.indptr) > 0
        if np.any(least[~used] > 0):
            return None
        return cls(cells, matrix[used], matrix[used].T.tocsr(), least[used], most[used], upper[cells])

    @property
    def largest(self) -> float:
        """The largest finite limit."""
        limits = np.concatenate((self.least, self.most))
        return float(limits.max(initial=0.0, where=np.isfinite(limits)))

    def of_cell(self, cell: int) -> IntArray:
        """The sums that a cell is part of."""
        start, stop = self.transposed.indptr[cell : cell + 2]
        return np.asarray(self.transposed.indices[start:stop], dtype=np.int64)

    def admits(self, table: FloatArray) -> bool:
        """Whether a table of whole numbers (cells,) has these sums and no negative cell."""
        sums = self.matrix @ table
        return bool(np.all(table >= 0) and np.all(sums >= self.least) and np.all(sums <= self.most))

    def parts(self) -> Iterator[Self]:
        """Yield the parts of the system that share neither sums nor cells."""
        sums, cells = self.matrix.shape
        link = self.matrix.tocoo()
        graph = scipy.sparse.coo_array((link.data, (link.row, link.col + sums)), shape=(sums + cells, sums + cells))
        count, part_of = scipy.sparse.csgraph.connected_components(graph.tocsr(), directed=False)
        order = np.argsort(part_of[sums:], kind="stable")
        for chosen in np.split(order, np.cumsum(np.bincount(part_of[sums:], minlength=count))[:-1]):
            part = self.transposed[chosen]
            used = np.unique(part.indices)
            part = part[:, used]
            yield type(self)(
                self.cells[chosen], part.T.tocsr(), part, self.least[used], self.most[used], self.upper[chosen]
            )


def _smallest(matrix: "scipy.sparse.csr_array", most: FloatArray) -> FloatArray:
    """(cells,) the least upper limit (sums,) of the sums that contain each cell; infinite if none does."""
    smallest = np.full(matrix.shape[1], np.inf)
    np.minimum.at(smallest, matrix.indices, np.repeat(most, np.diff(matrix.indptr)))
    return smallest


def _incidence(
    limits: Sequence[SumLimits], rows: FloatArray | None, atoms: int, labels: int
) -> "tuple[scipy.sparse.csr_array, FloatArray, FloatArray]":
    """The incidence matrix of sums and cells of the flattened table (sums, atoms * labels), and the limits (sums,)."""
    label = np.arange(labels)
    sums, cells, least, most, offset = [], [], [], [], 0
    for one in limits:
        sums.append(offset + (one.group_of[:, np.newaxis] * labels + label).ravel())
        cells.append((one.atoms[:, np.newaxis] * labels + label).ravel())
        least.append(one.least.ravel())
        most.append(one.most.ravel())
        offset += one.least.size
    if rows is not None:
        everything = np.arange(atoms * labels)
        sums.append(offset + everything // labels)
        cells.append(everything)
        least.append(rows)
        most.append(rows)
        offset += atoms
    row, column = np.concatenate(sums), np.concatenate(cells)
    matrix = scipy.sparse.coo_array((np.ones(row.size), (row, column)), shape=(offset, atoms * labels)).tocsr()
    return matrix, np.concatenate(least), np.concatenate(most)
