"""The margins of a problem as linear equations in the cells without a margin of 0."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy

from aegis_advisor.arrays import BoolArray, FloatArray, IntArray
from aegis_advisor.reconstruction.problem import Problem


@dataclass(frozen=True, slots=True, eq=False)
class Equations:
    """`matrix @ cells = target`, with every coefficient 0 or 1.

    Cells and equations belong to the same part if they depend on each other, directly or through others. Without
    known rows, cells of different labels are in different parts.

    Attributes:
        cells: (cells,) their indices in the flattened table (atoms, labels).
        matrix: (equations, cells).
        transposed: (cells, equations).
        target: (equations,) counts, all positive.
        part_of_equation: (equations,) below `parts`.
        part_of_cell: (cells,) below `parts`.
    """

    cells: IntArray
    matrix: "scipy.sparse.csr_array"
    transposed: "scipy.sparse.csr_array"
    target: FloatArray
    part_of_equation: IntArray
    part_of_cell: IntArray
    parts: int

    @classmethod
    def of(cls, problem: Problem, empty: BoolArray | None = None) -> Self | None:
        """Return the equations in all cells (atom, label) without a margin of 0, except those known to be empty.

        Args:
            problem: with exact margins.
            empty: (atoms, labels) cells that are empty in all tables that fit; None if none are known.

        Returns:
            None if a positive margin has no such cell, so that no table fits.
        """
        held = problem.allowed() if empty is None else problem.allowed() & ~empty
        cells = np.flatnonzero(held)
        everything, target = incidence(problem)
        matrix = everything[:, cells]
        empty = np.diff(matrix.indptr) == 0
        if np.any(target[empty] > 0):
            return None
        matrix, target = matrix[~empty], target[~empty]
        transposed = matrix.T.tocsr()
        part = scipy.sparse.csgraph.connected_components(_bipartite(matrix), directed=False)[1].astype(np.int64)
        parts = int(part.max(initial=-1)) + 1
        equations = target.size
        return cls(cells, matrix, transposed, target, part[:equations], part[equations:], parts)

    def smallest_target(self) -> FloatArray:
        """(cells,) the smallest count that contains each cell, which bounds it from above."""
        smallest: FloatArray = np.minimum.reduceat(self.target[self.transposed.indices], self.transposed.indptr[:-1])
        return smallest

    def largest_target(self) -> FloatArray:
        """(parts,) the largest count of each part."""
        largest = np.zeros(self.parts)
        np.maximum.at(largest, self.part_of_equation, self.target)
        return largest

    def same_part(self, chosen: BoolArray) -> BoolArray:
        """(cells,) the cells in the same part as one of the chosen cells (cells,)."""
        parts = np.zeros(self.parts, dtype=bool)
        parts[self.part_of_cell[chosen]] = True
        return parts[self.part_of_cell]

    def gap(self, table: FloatArray) -> FloatArray:
        """(equations,) how much a table (cells,) falls short of each target."""
        missing: FloatArray = self.target - self.matrix @ table
        return missing


def incidence(problem: Problem) -> "tuple[scipy.sparse.csr_array, FloatArray]":
    """The incidence matrix of counts and cells of the flattened table, (counts, atoms * labels), and the counts."""
    labels = np.arange(problem.labels)
    rows, columns, targets, offset = [], [], [], 0
    for margin in problem.margins:
        columns_of = labels if margin.column_of is None else margin.column_of
        rows.append(offset + (margin.group_of[:, np.newaxis] * labels.size + columns_of).ravel())
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
    return scipy.sparse.coo_array(entries, shape=(offset, cells)).tocsr(), np.concatenate(targets)


def _bipartite(matrix: "scipy.sparse.csr_array") -> "scipy.sparse.csr_array":
    """The bipartite graph of equations, then cells, with an edge where a cell is in an equation."""
    equations, cells = matrix.shape
    link = matrix.tocoo()
    size = equations + cells
    return scipy.sparse.coo_array((link.data, (link.row, link.col + equations)), shape=(size, size)).tocsr()


FLAT = 1e-13
"""A direction with less relative curvature than this is a rounding error and changes no cell."""

ENOUGH, STEPS = 1e-12, 400
ROUNDING = 16 * np.finfo(np.float64).eps


def closest_combination(equations: Equations, weight: FloatArray, wanted: FloatArray) -> FloatArray:
    """The linear combination (equations,) whose coefficients come closest to those wanted.

    It minimises `sum weight * (coefficient - wanted / weight)^2` over the cells.

    Args:
        equations: the equations to combine.
        weight: (cells,) not negative.
        wanted: (cells,) 0 where the weight is 0.
    """
    return solve_normal_equations(equations, weight, equations.matrix @ wanted)


def solve_normal_equations(equations: Equations, weight: FloatArray, right: FloatArray) -> FloatArray:
    """A solution (equations,) of `matrix @ diag(weight) @ matrix.T @ v = right`.

    The matrix is singular because margins overlap, but the system is consistent if any table fits. Conjugate gradients
    (Hestenes & Stiefel 1952) are implemented here so that a step without curvature ends the iteration instead of
    causing a division by zero.
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
