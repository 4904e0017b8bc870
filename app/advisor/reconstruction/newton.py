"""A damped Newton method on the dual, for views that overlap so that iterative scaling creeps."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from app.advisor.arrays import FloatArray
from app.advisor.reconstruction.curvature import NewtonDirections
from app.advisor.reconstruction.dual import Dual, Point
from app.advisor.reconstruction.ipf import IterativeProportionalFitting, never
from app.advisor.reconstruction.problem import Problem
from app.advisor.reconstruction.solution import Solution

ARMIJO = 1e-4
"""The part of the decrease that the slope promises which a step must keep (Nocedal & Wright 2006, section 3.1)."""

SHORTEST = 2.0**-30
"""A step cut down to this part leads nowhere: rounding has the last word."""


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
        prior_weight: of the divergence from the prior against counts that vary, see `Dual.of`.
        expired: asked before every sweep and step; when it says so, the best table so far is the answer.
    """

    tolerance: float = 1e-9
    sweeps: int = 20
    steps: int = 100
    prior_weight: float = 1e-3
    expired: Callable[[], bool] = never

    def solve(self, problem: Problem) -> Solution:
        """Solve by scaling if that is enough, by Newton steps if not."""
        scaled = None
        if all(margin.is_exact for margin in problem.margins):
            scaling = IterativeProportionalFitting(self.tolerance, self.sweeps, self.expired)
            scaled = scaling.solve(problem)
            if problem.residual(scaled.table) <= self.tolerance or self.expired():
                return scaled
        return self._descend(problem, scaled)

    def _descend(self, problem: Problem, scaled: Solution | None) -> Solution:
        dual = Dual.of(problem, self.prior_weight)
        start = None if scaled is None else scaled.multipliers
        point = best = dual.at(np.zeros_like(dual.targets) if start is None else start)
        directions, steps = NewtonDirections(dual), 0
        while point.gap > self.tolerance and steps < self.steps and not self.expired():
            following = _step(dual, point, directions.at(point))
            if following is None:
                break
            steps, point = steps + 1, following
            best = min(best, point, key=lambda one: one.gap)
        taken = steps + (0 if scaled is None else scaled.iterations)
        return Solution("newton", best.table * problem.records, taken, -best.value * problem.records, best.multipliers)


def _step(dual: Dual, point: Point, direction: FloatArray) -> Point | None:
    """The next point, downhill; None where no step leads down any more."""
    slope = float(np.sum(point.gradient * direction))
    length = 1.0
    while length > SHORTEST:
        found = dual.at(point.multipliers + length * direction)
        # Close to the end a decrease drowns in rounding; the gradient still tells.
        if found.value <= point.value + ARMIJO * length * slope or _is_flat(point, found):
            return _further(dual, point, direction, found) if length == 1.0 else found
        length /= 2
    return None


def _further(dual: Dual, point: Point, direction: FloatArray, found: Point) -> Point:
    """Twice, four times, ... the step, as long as that comes closer.

    It does on the way to the boundary, where a step takes the cells that have to be empty to 1/e only: what is
    left of the direction is theirs, and longer steps take them to 1/e^2, 1/e^4, ...
    """
    length = 2.0
    while (longer := dual.at(point.multipliers + length * direction)).gap < found.gap:
        found, length = longer, 2 * length
    return found


def _is_flat(point: Point, found: Point) -> bool:
    flat = abs(found.value - point.value) <= 1e-13 * max(1.0, abs(point.value))
    return flat and found.gap < point.gap
