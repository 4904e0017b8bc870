"""Newton's direction: the Hessian of the dual, factorised where it is small, applied where it is large."""

from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse import csr_array, hstack
from scipy.sparse.linalg import LinearOperator, cg

from app.advisor.arrays import FloatArray
from app.advisor.reconstruction.dual import Dual, Point

DENSE = 3_000
"""Rows of a matrix that is still factorised: 3,000 take 72 MB and half a second."""

SMALL = 300
"""Rows of a matrix that is factorised sooner than the labels' blocks of it help to go round it."""

FEW, MANY = 40, 500
"""Steps of conjugate gradients: enough where the blocks are a good guess; at most, where nothing else is possible."""

JITTER = 1e-14
"""Of the largest curvature, added to all: margins imply each other (all views have one total), and are singular."""

Factor = tuple[FloatArray, bool]


def newton_direction(dual: Dual, point: Point) -> FloatArray:
    """Minus the inverse Hessian times the gradient: (groups, labels).

    Without rows the labels do not know of each other: a factor for each. With rows they do, mostly a little: then
    conjugate gradients, which the factors of the labels' blocks guide, are fastest; close to the boundary they
    are not, and the whole matrix is factorised if it is not too large.
    """
    curvature = Curvature(dual, point.table)
    gradient = point.gradient.T[dual.free]
    direction = np.zeros_like(point.gradient)
    direction.T[dual.free] = -_solution(curvature, gradient, point.gap)
    return direction


def _solution(curvature: "Curvature", gradient: FloatArray, gap: float) -> FloatArray:
    largest_block = max(part.shape[1] for part in curvature.dual.parts)
    if curvature.dual.rows is None and largest_block <= DENSE:
        return curvature.by_blocks(gradient)
    if gradient.size <= SMALL:
        return curvature.directly(gradient)
    most = FEW if gradient.size <= DENSE else MANY
    found = curvature.by_conjugate_gradients(gradient, min(0.1, float(np.sqrt(gap))), most)
    return curvature.directly(gradient) if found is None else found


class Curvature:
    """The Hessian of a dual at a table (atoms, labels), for its free multipliers (free,): label after label."""

    def __init__(self, dual: Dual, table: FloatArray) -> None:
        self.dual = dual
        self._table = table
        self._cuts = np.cumsum([0, *(part.shape[1] for part in dual.parts)])
        self._ridge = dual.ridge.T[dual.free]

    @cached_property
    def _own(self) -> FloatArray:
        """By how much each cell (atoms, labels) grows with its own exponent."""
        if self.dual.rows is None:
            return self._table
        return self._table * (1.0 - self._table / self.dual.rows[:, np.newaxis])

    @cached_property
    def _factors(self) -> list[Factor]:
        """The factors of each label's block."""
        weighted = zip(self.dual.parts, self._own.T, self._split(self._ridge), strict=True)
        return [_factor(_product(part, weights) + np.diag(ridge)) for part, weights, ridge in weighted]

    def by_blocks(self, vector: FloatArray) -> FloatArray:
        """The solution of the system without what ties the labels together: exact if nothing does."""
        columns = zip(self._factors, self._split(vector), strict=True)
        return np.concatenate([cho_solve(factor, column, check_finite=False) for factor, column in columns])

    def directly(self, vector: FloatArray) -> FloatArray:
        """The solution of the system by a factor of the whole matrix."""
        hessian = np.diag(self._ridge)
        for part, weights, (start, stop) in zip(self.dual.parts, self._table.T, pairwise(self._cuts), strict=True):
            hessian[start:stop, start:stop] += _product(part, weights)
        if self.dual.rows is not None:
            shares = self._table / np.sqrt(self.dual.rows)[:, np.newaxis]
            spread = hstack([_scaled(part, share) for part, share in zip(self.dual.parts, shares.T, strict=True)])
            hessian -= (spread.T @ spread).toarray()
        needed = np.flatnonzero(self.dual.independent)
        solution = np.zeros_like(vector)
        factor = _factor(hessian[np.ix_(needed, needed)])
        solution[needed] = cho_solve(factor, vector[needed], check_finite=False)
        return solution

    def by_conjugate_gradients(self, vector: FloatArray, tolerance: float, most: int) -> FloatArray | None:
        """The solution without the matrix, up to a relative residual; None after `most` steps in vain.

        With many steps even a poor solution leads downhill, and is taken (Nocedal & Wright 2006, section 7.1).
        """
        size = vector.size
        guided = max(part.shape[1] for part in self.dual.parts) <= DENSE
        found, stopped = cg(
            LinearOperator((size, size), matvec=self._times, dtype=np.float64),
            vector,
            rtol=tolerance,
            maxiter=most,
            M=LinearOperator((size, size), matvec=self.by_blocks, dtype=np.float64) if guided else None,
        )
        return None if stopped and most < MANY else np.asarray(found)

    def _times(self, vector: FloatArray) -> FloatArray:
        parts = self._split(vector)
        exponents = np.stack([part @ one for part, one in zip(self.dual.parts, parts, strict=True)], axis=1)
        change = self._table * exponents
        if self.dual.rows is not None:
            change -= self._table * (change.sum(axis=1) / self.dual.rows)[:, np.newaxis]
        back = [part.T @ column for part, column in zip(self.dual.parts, change.T, strict=True)]
        return np.concatenate(back) + (self._ridge + JITTER) * vector

    def _split(self, vector: FloatArray) -> list[FloatArray]:
        return np.split(vector, self._cuts[1:-1])


def _scaled(design: csr_array, weights: FloatArray) -> csr_array:
    """A design (atoms, groups) with each atom's row multiplied by its weight (atoms,)."""
    data = design.data * np.repeat(weights, np.diff(design.indptr))
    return csr_array((data, design.indices, design.indptr), shape=design.shape)


def _product(design: csr_array, weights: FloatArray) -> FloatArray:
    """The weighted records (groups, groups) that each two groups share."""
    product: FloatArray = (design.T @ _scaled(design, weights)).toarray()
    return product


def _factor(matrix: FloatArray) -> Factor:
    """Cholesky's factor; the more is added to the diagonal the worse the matrix is conditioned."""
    diagonal = np.diagonal(matrix).copy()
    added = JITTER * float(diagonal.max(initial=JITTER))
    while True:
        np.fill_diagonal(matrix, diagonal + added)
        try:
            return cho_factor(matrix, lower=True, check_finite=False)
        except LinAlgError:
            added *= 100
