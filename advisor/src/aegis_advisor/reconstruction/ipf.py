"""Iterative proportional fitting, for views that overlap without nesting."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from aegis_advisor.arrays import FloatArray, indicator
from aegis_advisor.reconstruction.problem import Margin, Problem
from aegis_advisor.reconstruction.solution import Solution

VANISHED = 1e-200
"""Shares of the records below this count as 0; scaling them up again would overflow."""


def never() -> bool:
    """Never stop: the default for checks whether time is up."""
    return False


@dataclass(frozen=True, slots=True)
class IterativeProportionalFitting:
    """Scale the table to one margin after another until all are met (Deming & Stephan 1940).

    Attributes:
        tolerance: the largest margin residual, over the number of records, that counts as converged.
        sweeps: the most sweeps (at least 1); they are all needed if no table meets the margins.
        expired: called before every sweep but the first; true ends the iteration.
    """

    tolerance: float = 1e-6
    sweeps: int = 5_000
    expired: Callable[[], bool] = never

    def __post_init__(self) -> None:
        if self.sweeps < 1:
            raise ValueError(f"a fit takes at least one sweep, not {self.sweeps}")

    def solve(self, problem: Problem) -> Solution:
        """Fit from the prior; in variant I the rows come last in a sweep, so that they are met at the end."""
        table = problem.start() / problem.records
        fits = [_MarginFit(margin, problem) for margin in problem.margins]
        rows = None if problem.rows is None else _RowFit(problem.rows / problem.records)
        sweeps, gap = 0, math.inf
        while sweeps < self.sweeps and not self._is_met(problem, table, gap) and not (sweeps and self.expired()):
            sweeps += 1
            gap = max(fit.apply(table) for fit in fits)
            if rows is not None:
                gap = max(gap, rows.apply(table))
        dual = sum(fit.dual for fit in fits) + (0.0 if rows is None else rows.dual)
        multipliers = np.vstack([fit.log_multipliers for fit in fits])
        return Solution("ipf", table * problem.records, sweeps, dual * problem.records, multipliers)

    def _is_met(self, problem: Problem, table: FloatArray, gap: float) -> bool:
        # The largest gap before each step is known anyway; the full residual is computed only if that gap is small.
        return gap <= self.tolerance and problem.residual(table * problem.records) <= self.tolerance


class _MarginFit:
    """The scaling step of one margin, and the logarithms of its multipliers so far."""

    def __init__(self, margin: Margin, problem: Problem) -> None:
        everything = margin.atoms.size == problem.prior.size
        self._atoms = slice(None) if everything else margin.atoms
        self._group_of = margin.group_of
        self._sum = indicator(margin.group_of, margin.groups, np.float64)
        self._margin = margin
        self._target = margin.counts / problem.records
        self.log_multipliers = np.zeros_like(self._target)

    def apply(self, table: FloatArray) -> float:
        """Scale `table` (atoms, labels) in place, and return the largest difference before."""
        held = self._margin.merged(self._sum @ table[self._atoms])
        ratio = _ratio(self._target, held)
        table[self._atoms] *= self._margin.spread(ratio)[self._group_of]
        np.log(ratio, out=ratio, where=ratio > 0)
        self.log_multipliers += ratio
        return float(np.abs(held - self._target).max())

    @property
    def dual(self) -> float:
        """This margin's part of the dual, in nats: its targets times its multipliers."""
        return float(np.sum(self._target * self.log_multipliers))


class _RowFit:
    """The scaling step of the rows (variant I), and the logarithms of their multipliers so far."""

    def __init__(self, rows: FloatArray) -> None:
        self._target = rows
        self.log_multipliers = np.zeros_like(rows)

    def apply(self, table: FloatArray) -> float:
        """Scale `table` (atoms, labels) in place, and return the largest difference before."""
        held = table.sum(axis=1)
        ratio = _ratio(self._target, held)
        table *= ratio[:, np.newaxis]
        np.log(ratio, out=ratio, where=ratio > 0)
        self.log_multipliers += ratio
        return float(np.abs(held - self._target).max())

    @property
    def dual(self) -> float:
        """The rows' part of the dual, in nats."""
        return float(np.sum(self._target * self.log_multipliers))


def _ratio(target: FloatArray, held: FloatArray) -> FloatArray:
    return np.divide(target, held, out=np.zeros_like(held), where=held > VANISHED)
