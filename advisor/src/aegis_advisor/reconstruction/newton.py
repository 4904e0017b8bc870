"""A damped Newton method on the dual, for overlapping views on which iterative scaling converges slowly.

The Hessian of the dual is factorised if it is small, and only applied if it is large.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy

from aegis_advisor.arrays import BoolArray, FloatArray, indicator
from aegis_advisor.reconstruction.dual import Dual, Point
from aegis_advisor.reconstruction.ipf import IterativeProportionalFitting, never
from aegis_advisor.reconstruction.problem import Problem
from aegis_advisor.reconstruction.solution import Solution
from aegis_advisor.reconstruction.support import proven_zeros

DENSE = 3_000
"""The most rows of a matrix to factorise; 3,000 take 72 MB and half a second."""

SMALL = 300
"""Up to this many rows, factorising the whole matrix is faster than preconditioning by the labels' blocks."""

GUIDING = 1_000
"""The most groups for which the labels' blocks are inverted as the preconditioner; beyond, the diagonal is used."""

BY_LABELS = 5e10
"""The blocks of independent labels are factorised if the cubes of their sizes add up to at most this."""

FEW, MANY = 40, 500
"""Steps of conjugate gradients: with a good preconditioner, and without an alternative."""

JITTER = 1e-14
"""The share of the largest curvature added to the diagonal, since margins with a common total make the matrix
singular."""

Factor = tuple[FloatArray, bool]


class NewtonDirections:
    """Newton directions of one dual, from one point after another.

    Without rows the labels are independent, and each label's block is factorised if that is affordable. With rows they
    are coupled, mostly weakly. Then conjugate gradients, preconditioned by the inverses of the labels' blocks, are
    fastest. The preconditioner may be that of an earlier point, and is recomputed when it no longer helps. Close to the
    boundary no preconditioner helps, and the whole matrix is factorised if it is not too large.
    """

    def __init__(self, dual: Dual) -> None:
        self._dual = dual
        self._size = int(dual.free.sum())
        self._cubes = float(np.sum(dual.free.sum(axis=0).astype(np.float64) ** 3))
        self._guide: FloatArray | None = None
        self._guidable = self._size > SMALL

    def at(self, point: Point, damping: float) -> FloatArray:
        """Return minus the inverse Hessian times the gradient: (groups, labels).

        Args:
            point: the current point.
            damping: the multiple of the targets that is added to the diagonal, which equals the targets at the
                solution. A larger one shortens the direction, even for groups whose current sums are nearly 0.
        """
        if self._dual.rows is None and not self._dual.blocks and self._cubes <= BY_LABELS:
            return -_by_labels(self._dual, point, damping)
        inverse = self._guided(point, damping, FEW if self._size <= DENSE else MANY) if self._guidable else None
        if inverse is None:
            self._guidable = False
            inverse = _as_a_whole(self._dual, point, damping)
        return -inverse

    def _guided(self, point: Point, damping: float, most: int) -> FloatArray | None:
        """The direction by preconditioned conjugate gradients; None if `most` steps do not converge."""
        if point.gradient.shape[0] > GUIDING or self._dual.blocks:
            diagonal = self._dual.merged(self._dual.transposed @ _responses(self._dual, point.table)) + self._dual.ridge
            guide = (1.0 / (diagonal + JITTER * float(diagonal.max()))).T
            return _by_conjugate_gradients(self._dual, point, damping, guide, most)
        if self._guide is not None:
            inverse = _by_conjugate_gradients(self._dual, point, damping, self._guide, FEW)
            if inverse is not None:
                return inverse
        self._guide = _inverse_blocks(self._dual, point)
        return _by_conjugate_gradients(self._dual, point, damping, self._guide, most)


def _by_labels(dual: Dual, point: Point, damping: float) -> FloatArray:
    """The exact solution for independent labels, one label at a time."""
    solution = np.zeros_like(point.gradient)
    for label, free in enumerate(dual.free.T):
        if free.any():
            block = _product(scipy.sparse.csr_array(dual.design[:, free]), point.table[:, label])
            factor = _factor(block + np.diag(_ridge(dual, damping)[free, label]))
            solution[free, label] = scipy.linalg.cho_solve(factor, point.gradient[free, label], check_finite=False)
    return solution


def _as_a_whole(dual: Dual, point: Point, damping: float) -> FloatArray:
    """The solution by factorising the whole matrix."""
    needed = dual.needed.T
    number = np.full(needed.shape, -1.0)
    number[needed] = np.arange(np.count_nonzero(needed))
    number_of = dual.spread(number.T).T.astype(np.int64)  # (labels, groups) the multiplier of each label in each group
    parts = [scipy.sparse.csr_array(dual.design[:, places >= 0]) for places in number_of]
    hessian = np.diag(_ridge(dual, damping).T[needed])
    for part, weights, places in zip(parts, point.table.T, number_of, strict=True):
        used = places[places >= 0]
        if used.size:  # without merged labels, places follow each other, and slices are faster
            at = np.ix_(used, used) if dual.blocks else (slice(used[0], used[-1] + 1),) * 2
            hessian[at] += _product(part, weights)
    if dual.rows is not None:
        shares = point.table / np.sqrt(dual.rows)[:, np.newaxis]
        spread = scipy.sparse.hstack(
            [_scaled(part, share) for part, share in zip(parts, shares.T, strict=True)], format="csr"
        )
        if dual.blocks:
            used = number_of[number_of >= 0]
            spread = spread @ indicator(used, hessian.shape[0], np.float64).T
        hessian -= (spread.T @ spread).toarray()
    solution = np.zeros_like(point.gradient)
    solution.T[needed] = scipy.linalg.cho_solve(_factor(hessian), point.gradient.T[needed], check_finite=False)
    return solution


def _by_conjugate_gradients(
    dual: Dual, point: Point, damping: float, guide: FloatArray, most: int
) -> FloatArray | None:
    """The solution without forming the matrix, more accurate near the end; None if `most` steps do not suffice.

    With `MANY` steps even an inaccurate solution is a descent direction, and is used (Nocedal & Wright 2006, section
    7.1).
    """
    shape, size = point.gradient.shape, point.gradient.size
    table, rows = point.table, dual.rows
    added = _ridge(dual, damping) + JITTER

    def times(vector: FloatArray) -> FloatArray:
        exponents = vector.reshape(shape)
        change = table * (dual.design @ dual.spread(exponents))
        if rows is not None:
            change -= table * (change.sum(axis=1) / rows)[:, np.newaxis]
        product: FloatArray = dual.merged(dual.transposed @ change) + added * exponents
        return product.ravel()

    def guided(vector: FloatArray) -> FloatArray:
        columns = vector.reshape(shape).T
        steps = guide * columns if guide.ndim == columns.ndim else (guide @ columns[..., np.newaxis])[..., 0]
        return np.ascontiguousarray(steps.T).ravel()

    solution, stopped = scipy.sparse.linalg.cg(
        scipy.sparse.linalg.LinearOperator((size, size), matvec=times, dtype=np.float64),
        point.gradient.ravel(),
        rtol=min(0.1, float(np.sqrt(point.gap))),
        maxiter=most,
        M=scipy.sparse.linalg.LinearOperator((size, size), matvec=guided, dtype=np.float64),
    )
    return None if stopped and most < MANY else np.asarray(solution).reshape(shape)


def _inverse_blocks(dual: Dual, point: Point) -> FloatArray:
    """The inverses (labels, groups, groups) of the Hessian's diagonal blocks, one for each label."""
    blocks = _products(dual, _responses(dual, point.table))
    diagonal = np.arange(blocks.shape[1])
    blocks[:, diagonal, diagonal] += np.where(dual.free, dual.ridge, 1.0).T
    return np.stack([_inverse(_factor(block)) for block in blocks])


def _inverse(factor: Factor) -> FloatArray:
    """The inverse of a symmetric matrix, given its Cholesky factor; three times as fast as solving for the identity."""
    lower, _ = scipy.linalg.lapack.dpotri(factor[0], lower=True)
    half = np.tril(lower, -1)
    inverse: FloatArray = half + half.T + np.diag(np.diagonal(lower))
    return inverse


def _products(dual: Dual, weights: FloatArray) -> FloatArray:
    """The weighted Gram matrices (labels, groups, groups) of the design, for weights (atoms, labels)."""
    groups = dual.targets.shape[0]
    if dual.overlaps is None:
        return np.stack([_product(dual.design, weight) for weight in weights.T])
    return np.ascontiguousarray((dual.overlaps @ weights).T).reshape(-1, groups, groups)


def _ridge(dual: Dual, damping: float) -> FloatArray:
    """The ridge and the damping added to the diagonal (groups, labels)."""
    return dual.ridge + damping * np.abs(dual.targets)


def _responses(dual: Dual, table: FloatArray) -> FloatArray:
    """The derivative of each cell (atoms, labels) with respect to its exponent."""
    return table if dual.rows is None else table * (1.0 - table / dual.rows[:, np.newaxis])


def _scaled(design: "scipy.sparse.csr_array", weights: FloatArray) -> "scipy.sparse.csr_array":
    """A design (atoms, groups) with each atom's row multiplied by its weight (atoms,)."""
    data = design.data * np.repeat(weights, np.diff(design.indptr))
    return scipy.sparse.csr_array((data, design.indices, design.indptr), shape=design.shape)


def _product(design: "scipy.sparse.csr_array", weights: FloatArray) -> FloatArray:
    """The weighted Gram matrix (groups, groups) of a design: the overlap of each two groups."""
    product: FloatArray = (design.T @ _scaled(design, weights)).toarray()
    return product


def _factor(matrix: FloatArray) -> Factor:
    """The Cholesky factor; more is added to the diagonal of an ill-conditioned matrix."""
    diagonal = np.diagonal(matrix).copy()
    added = JITTER * float(diagonal.max(initial=JITTER))
    while True:
        np.fill_diagonal(matrix, diagonal + added)
        try:
            return scipy.linalg.cho_factor(matrix, lower=True, check_finite=False)
        except scipy.linalg.LinAlgError:
            added *= 100


ARMIJO = 1e-4
"""The share of the decrease predicted by the slope that a step must achieve (Nocedal & Wright 2006, section 3.1)."""

SHORTEST = 2.0**-30
"""Shorter steps are not tried, since rounding dominates them."""

SHORT = 2.0**-7
"""After a step shorter than this the next direction is damped, since the function has hardly any curvature along it."""

LEAST_DAMPING, MOST_DAMPING = 1e-8, 1e2
"""Damping: the multiple of each target added to the curvature (Levenberg 1944). If the largest fails too, the search
ends."""

APPROACH = (1000.0, 100.0, 30.0, 10.0, 3.0)
"""Weights of the prior in the preliminary fits, in units of the final weight; without these some fits fail."""

STRIDE = 12
"""Steps between searches for empty cells; most problems without any take fewer in all."""

LARGEST = 500_000
"""The largest table, in cells, that is searched for empty cells."""

ROUGH = 1e-3
"""The tolerance of the preliminary fits."""


@dataclass(frozen=True, slots=True)
class DualNewton:
    """A few sweeps of iterative proportional fitting, then Newton steps on the dual until every margin is met.

    If the solution is on the boundary (a cell must be empty although no count of its groups is 0), the multipliers grow
    without limit. Steps are lengthened as long as that helps, and cells proven empty are removed. Otherwise the
    convergence is quadratic. If no table meets the margins, or time is up, the best table so far is returned.

    Attributes:
        tolerance: the largest margin residual, over the number of records, that counts as converged.
        sweeps: the sweeps of iterative proportional fitting, which suffice for nearly independent problems.
        prior_weight: the weight of the divergence from the prior against inexact counts (`Dual.of`), in units of
            1 / sqrt(records). For any number of records, it changes no count by much more than this share of the
            count's sampling standard deviation.
        expired: called before every sweep and step; if true, the best table so far is returned.
    """

    tolerance: float = 1e-9
    sweeps: int = 20
    steps: int = 100
    prior_weight: float = 0.1
    expired: Callable[[], bool] = never

    def solve(self, problem: Problem) -> Solution:
        """Solve by scaling if that suffices, else by Newton steps."""
        if not problem.is_exact:
            return self._approach(problem)
        scaling = IterativeProportionalFitting(self.tolerance, self.sweeps, self.expired)
        scaled = scaling.solve(problem)
        if problem.residual(scaled.table) <= self.tolerance or self.expired():
            return scaled
        return self._on_faces(problem, scaled)

    def _on_faces(self, problem: Problem, scaled: Solution) -> Solution:
        """Alternate steps with emptying the cells proven empty (`proven_zeros`).

        On the remaining face the solution is not on the boundary, and the multipliers do not grow.
        """
        dual, multipliers, steps = Dual.of(problem, self.prior_weight), scaled.multipliers, scaled.iterations
        last, solutions, empty = self.steps + steps, list[Solution](), None
        while True:
            best, taken = self._descend(dual, multipliers, self.tolerance, min(STRIDE, last - steps))
            steps, multipliers = steps + taken, best.multipliers
            solutions.append(_solution(problem, best, steps, empty))
            if best.gap <= self.tolerance or taken < STRIDE or self.expired():
                nearest = min(solutions, key=lambda one: one.gap)
                return replace(nearest, iterations=steps)
            if best.table.size <= LARGEST:
                empty = proven_zeros(problem, solutions[-1].table, empty)
                dual = dual.without(empty)

    def _approach(self, problem: Problem) -> Solution:
        """Fit inexact counts with a large weight of the prior first, then with smaller weights from there."""
        weight = self.prior_weight / math.sqrt(problem.records)
        start: FloatArray | None = None
        taken = 0
        for factor in APPROACH:
            point, steps = self._descend(Dual.of(problem, factor * weight), start, ROUGH, self.steps - taken)
            start, taken = point.multipliers, taken + steps
        best, steps = self._descend(Dual.of(problem, weight), start, self.tolerance, self.steps - taken)
        return _solution(problem, best, taken + steps)

    def _descend(self, dual: Dual, start: FloatArray | None, near: float, most: int) -> tuple[Point, int]:
        """Take at most `most` steps until the gap is at most `near`; return the best point and the number of steps."""
        point = best = dual.at(np.zeros_like(dual.targets) if start is None else start)
        directions, steps, damping = NewtonDirections(dual), 0, 0.0
        while point.gap > near and steps < most and damping <= MOST_DAMPING and not self.expired():
            following, length = _step(dual, point, directions.at(point, damping))
            damping = max(LEAST_DAMPING, 100 * damping) if length < SHORT else damping / 100
            steps, point = steps + 1, following
            best = min(best, point, key=lambda one: one.gap)
        return best, steps


def _solution(problem: Problem, best: Point, steps: int, empty: BoolArray | None = None) -> Solution:
    reached = -best.value * problem.records
    return Solution("newton", best.table * problem.records, steps, reached, best.multipliers, best.gap, empty)


def _step(dual: Dual, point: Point, direction: FloatArray) -> tuple[Point, float]:
    """The next point and the length of the step to it, which decreases the dual; length 0 if no step does."""
    slope = float(np.sum(point.gradient * direction))
    length = 1.0
    while length > SHORTEST:
        following = dual.at(point.multipliers + length * direction)
        # Near the solution a decrease is lost in rounding, while the gradient still shows progress.
        is_flat = abs(following.value - point.value) <= 1e-13 * max(1.0, abs(point.value))
        is_nearer = is_flat and following.gap < point.gap
        if following.value <= point.value + ARMIJO * length * slope or is_nearer:
            return (_further(dual, point, direction, following) if length == 1.0 else following), length
        length /= 2
    return point, 0.0


def _further(dual: Dual, point: Point, direction: FloatArray, following: Point) -> Point:
    """Lengthen the step to twice, four times, ... its length, as long as that lowers the gap.

    It helps towards the boundary, where a single step reduces the cells that must be empty only by a factor of 1/e. The
    rest of the direction concerns these cells, and longer steps reduce them by 1/e^2, 1/e^4, ...
    """
    length = 2.0
    while (longer := dual.at(point.multipliers + length * direction)).gap < following.gap:
        following, length = longer, 2 * length
    return following
