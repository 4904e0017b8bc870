"""A damped Newton method on the dual, for overlapping views on which iterative scaling converges slowly."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from aegis_advisor.arrays import BoolArray, FloatArray
from aegis_advisor.reconstruction.dual import Dual, Point
from aegis_advisor.reconstruction.ipf import IterativeProportionalFitting, never
from aegis_advisor.reconstruction.newton_direction import NewtonDirections
from aegis_advisor.reconstruction.problem import Problem
from aegis_advisor.reconstruction.solution import Solution
from aegis_advisor.reconstruction.zeros import proven_zeros

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
        steps: the most Newton steps.
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
        if following.value <= point.value + ARMIJO * length * slope or _is_flat(point, following):
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


def _is_flat(point: Point, following: Point) -> bool:
    flat = abs(following.value - point.value) <= 1e-13 * max(1.0, abs(point.value))
    return flat and following.gap < point.gap
