"""A damped Newton method on the dual, for views that overlap so that iterative scaling creeps."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from aegis_advisor.arrays import FloatArray
from aegis_advisor.reconstruction.dual import Dual, Point
from aegis_advisor.reconstruction.ipf import IterativeProportionalFitting, never
from aegis_advisor.reconstruction.newton_direction import NewtonDirections
from aegis_advisor.reconstruction.problem import Problem
from aegis_advisor.reconstruction.solution import Solution

ARMIJO = 1e-4
"""The part of the decrease that the slope promises which a step must keep (Nocedal & Wright 2006, section 3.1)."""

SHORTEST = 2.0**-30
"""A step cut down to this part leads nowhere: rounding has the last word."""

SHORT = 2.0**-7
"""After a step cut down to this part the next direction is damped: it went where the function hardly bends."""

LEAST_DAMPING, MOST_DAMPING = 1e-8, 1e2
"""Of each target, added to the curvature (Levenberg 1944); where the most finds no way down, that is the end."""

APPROACH = (1000.0, 100.0, 30.0, 10.0, 3.0)
"""Weights of the prior on the way, in units of the last one: without the way some fits do not converge."""

ROUGH = 1e-3
"""As near as it has to be on the way."""


@dataclass(frozen=True, slots=True)
class DualNewton:
    """A few sweeps of iterative proportional fitting, then Newton steps on the dual until every margin holds.

    Where the solution is on the boundary (a cell has to be empty although no count of its groups is 0) the
    multipliers grow for ever, and steps are lengthened as long as that helps; elsewhere the convergence is
    quadratic. Margins that no table meets, and the time, end it at the best table so far.

    Attributes:
        tolerance: the largest margin residual, over the number of records, that counts as converged.
        sweeps: of iterative proportional fitting, which solves what is nearly independent by itself.
        steps: Newton steps at most.
        prior_weight: of the divergence from the prior against counts that vary, see `Dual.of`, in units of
            1 / sqrt(records): it moves no count by much more than this part of the standard deviation it can have by
            chance, however many records there are.
        expired: asked before every sweep and step; when it says so, the best table so far is the answer.
    """

    tolerance: float = 1e-9
    sweeps: int = 20
    steps: int = 100
    prior_weight: float = 0.1
    expired: Callable[[], bool] = never

    def solve(self, problem: Problem) -> Solution:
        """Solve by scaling if that is enough, by Newton steps if not."""
        if not problem.is_exact:
            return self._approach(problem)
        scaling = IterativeProportionalFitting(self.tolerance, self.sweeps, self.expired)
        scaled = scaling.solve(problem)
        if problem.residual(scaled.table) <= self.tolerance or self.expired():
            return scaled
        best, steps = self._descend(Dual.of(problem, self.prior_weight), scaled.multipliers, self.tolerance, self.steps)
        return _solution(problem, best, scaled.iterations + steps)

    def _approach(self, problem: Problem) -> Solution:
        """Fit counts that vary: first against a heavy prior, from where the way to a light one is short."""
        weight = self.prior_weight / math.sqrt(problem.records)
        start: FloatArray | None = None
        taken = 0
        for factor in APPROACH:
            point, steps = self._descend(Dual.of(problem, factor * weight), start, ROUGH, self.steps - taken)
            start, taken = point.multipliers, taken + steps
        best, steps = self._descend(Dual.of(problem, weight), start, self.tolerance, self.steps - taken)
        return _solution(problem, best, taken + steps)

    def _descend(self, dual: Dual, start: FloatArray | None, near: float, most: int) -> tuple[Point, int]:
        """The best point of at most so many steps from these multipliers, and how many it took to come near enough."""
        point = best = dual.at(np.zeros_like(dual.targets) if start is None else start)
        directions, steps, damping = NewtonDirections(dual), 0, 0.0
        while point.gap > near and steps < most and damping <= MOST_DAMPING and not self.expired():
            following, length = _step(dual, point, directions.at(point, damping))
            damping = max(LEAST_DAMPING, 100 * damping) if length < SHORT else damping / 100
            steps, point = steps + 1, following
            best = min(best, point, key=lambda one: one.gap)
        return best, steps


def _solution(problem: Problem, best: Point, steps: int) -> Solution:
    reached = -best.value * problem.records
    return Solution("newton", best.table * problem.records, steps, reached, best.multipliers, best.gap)


def _step(dual: Dual, point: Point, direction: FloatArray) -> tuple[Point, float]:
    """The next point, downhill, and the length of the step; 0 where no length leads down."""
    slope = float(np.sum(point.gradient * direction))
    length = 1.0
    while length > SHORTEST:
        following = dual.at(point.multipliers + length * direction)
        # Close to the end a decrease drowns in rounding; the gradient still tells.
        if following.value <= point.value + ARMIJO * length * slope or _is_flat(point, following):
            return (_further(dual, point, direction, following) if length == 1.0 else following), length
        length /= 2
    return point, 0.0


def _further(dual: Dual, point: Point, direction: FloatArray, following: Point) -> Point:
    """Twice, four times, ... the step, as long as that comes closer.

    It does on the way to the boundary, where a step takes the cells that have to be empty to 1/e only: what is
    left of the direction is theirs, and longer steps take them to 1/e^2, 1/e^4, ...
    """
    length = 2.0
    while (longer := dual.at(point.multipliers + length * direction)).gap < following.gap:
        following, length = longer, 2 * length
    return following


def _is_flat(point: Point, following: Point) -> bool:
    flat = abs(following.value - point.value) <= 1e-13 * max(1.0, abs(point.value))
    return flat and following.gap < point.gap
