"""The margins of a problem as linear equations of the cells that are not zero at first sight."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from aegis_advisor.arrays import BoolArray, FloatArray, IntArray
from aegis_advisor.reconstruction.problem import Problem


@dataclass(frozen=True, slots=True, eq=False)
class Equations:
    """`matrix @ cells = target`, with every coefficient 0 or 1.

    Cells and equations are of one part when they depend on each other, directly or through others. Without
    known rows every label is a part of its own, at least.

    Attributes:
        cells: (cells,) their places in the flattened table (atoms, labels).
        matrix: (equations, cells).
        transposed: (cells, equations).
        target: (equations,) counts, all positive.
        part_of_equation: (equations,) below `parts`.
        part_of_cell: (cells,) below `parts`.
        parts: how many there are.
    """

    cells: IntArray
    matrix: csr_array
    transposed: csr_array
    target: FloatArray
    part_of_equation: IntArray
    part_of_cell: IntArray
    parts: int

    @classmethod
    def of(cls, problem: Problem) -> Self | None:
        """The equations of every cell (atom, label) of which no margin is 0.

        None where a positive margin has no such cell: then no table fits.
        """
        cells = np.flatnonzero(_open_cells(problem))
        everything, target = _incidence(problem)
        matrix = everything[:, cells]
        empty = np.diff(matrix.indptr) == 0
        if np.any(target[empty] > 0):
            return None
        matrix, target = matrix[~empty], target[~empty]
        transposed = matrix.T.tocsr()
        part = connected_components(_bipartite(matrix), directed=False)[1].astype(np.int64)
        parts = int(part.max(initial=-1)) + 1
        equations = target.size
        return cls(cells, matrix, transposed, target, part[:equations], part[equations:], parts)

    def smallest_target(self) -> FloatArray:
        """(cells,) the smallest count that each cell is part of: no table has more there."""
        smallest: FloatArray = np.minimum.reduceat(self.target[self.transposed.indices], self.transposed.indptr[:-1])
        return smallest

    def largest_target(self) -> FloatArray:
        """(parts,) the largest count of each part."""
        largest = np.zeros(self.parts)
        np.maximum.at(largest, self.part_of_equation, self.target)
        return largest

    def same_part(self, chosen: BoolArray) -> BoolArray:
        """(cells,) the cells that are of one part with a chosen one (cells,)."""
        parts = np.zeros(self.parts, dtype=bool)
        parts[self.part_of_cell[chosen]] = True
        return parts[self.part_of_cell]

    def gap(self, table: FloatArray) -> FloatArray:
        """(equations,) by how much a table (cells,) misses them."""
        missing: FloatArray = self.target - self.matrix @ table
        return missing


def _open_cells(problem: Problem) -> BoolArray:
    """(atoms, labels) the cells of which no margin is zero."""
    cells = np.repeat((problem.prior > 0)[:, np.newaxis], problem.labels, axis=1)
    for margin in problem.margins:
        cells[margin.atoms] &= (margin.counts > 0)[margin.group_of]
    return cells


def _incidence(problem: Problem) -> tuple[csr_array, FloatArray]:
    """Which cells of the flattened table each count adds up, (counts, atoms * labels), and the counts."""
    labels = np.arange(problem.labels)
    rows, columns, targets, offset = [], [], [], 0
    for margin in problem.margins:
        rows.append(offset + (margin.group_of[:, np.newaxis] * labels.size + labels).ravel())
        columns.append((margin.atoms[:, np.newaxis] * labels.size + labels).ravel())
        targets.append(margin.counts.ravel())
        offset += margin.counts.size
    cells = problem.prior.size * labels.size
    if problem.rows is not None:
        rows.append(offset + np.arange(cells) // labels.size)
        columns.append(np.arange(cells))
        targets.append(problem.rows)
        offset += problem.rows.size
    row = np.concatenate(rows)
    entries = (np.ones(row.size), (row, np.concatenate(columns)))
    return coo_array(entries, shape=(offset, cells)).tocsr(), np.concatenate(targets)


def _bipartite(matrix: csr_array) -> csr_array:
    """The graph of equations, then cells, joined where a cell is in an equation."""
    equations, cells = matrix.shape
    link = matrix.tocoo()
    size = equations + cells
    return coo_array((link.data, (link.row, link.col + equations)), shape=(size, size)).tocsr()


FLAT = 1e-13
"""A direction of less relative curvature changes no cell: it is rounding."""

ENOUGH, STEPS = 1e-12, 400
ROUNDING = 16 * np.finfo(np.float64).eps


def closest_combination(equations: Equations, weight: FloatArray, wanted: FloatArray) -> FloatArray:
    """The combination (equations,) whose coefficients come closest to those wanted.

    It minimises `sum weight * (coefficient - wanted / weight)^2` over cells.

    Args:
        equations: to combine.
        weight: (cells,) not negative.
        wanted: (cells,) 0 where the weight is.
    """
    return solve_normal_equations(equations, weight, equations.matrix @ wanted)


def solve_normal_equations(equations: Equations, weight: FloatArray, right: FloatArray) -> FloatArray:
    """A solution (equations,) of `matrix @ diag(weight) @ matrix.T @ v = right`.

    Singular, as margins overlap, but consistent where any table fits. Conjugate gradients (Hestenes & Stiefel
    1952) are written out, since a step without curvature is the end here and not a division by zero.
    """
    diagonal = equations.matrix @ weight
    diagonal[diagonal <= 0] = 1.0
    solution, left = np.zeros(right.size), right.copy()
    towards, size = left / diagonal, float(left @ (left / diagonal))
    enough = max(ENOUGH * size, ROUNDING**2 * float(diagonal.sum()))
    for _ in range(STEPS):
        image = equations.matrix @ (weight * (equations.transposed @ towards))
        curvature = float(towards @ image)
        if size <= enough or curvature <= FLAT * float(towards @ (diagonal * towards)):
            break
        solution += size / curvature * towards
        left -= size / curvature * image
        previous, size = size, float(left @ (left / diagonal))
        towards = left / diagonal + size / previous * towards
    return solution
