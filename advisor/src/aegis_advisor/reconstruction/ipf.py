"""Iterative proportional fitting, for views that overlap without nesting; and of the classical problem."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from aegis_advisor.arrays import FloatArray, indicator
from aegis_advisor.reconstruction.problem import Margin, Problem
from aegis_advisor.reconstruction.solution import Solution

VANISHED = 1e-200
"""Shares of the records below this are nothing: scaling them up again would overflow."""


def never() -> bool:
    """Whether time is up: it never is."""
    return False


@dataclass(frozen=True, slots=True)
class IterativeProportionalFitting:
    """Scale the table to one margin after the other until all of them hold (Deming & Stephan 1940).

    Attributes:
        tolerance: the largest margin residual, over the number of records, that counts as converged.
        sweeps: give up after so many (at least 1); margins that no table meets are never met.
        expired: asked before every sweep but the first; when it says so, there are no more.
    """

    tolerance: float = 1e-6
    sweeps: int = 5_000
    expired: Callable[[], bool] = never

    def __post_init__(self) -> None:
        if self.sweeps < 1:
            raise ValueError(f"a fit takes at least one sweep, not {self.sweeps}")

    def solve(self, problem: Problem) -> Solution:
        """Fit from the prior; in variant I the rows come last in a sweep, so that they hold in the end."""
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
        # Each margin's gap before its own step comes for free; only a small one is worth adding all up.
        return gap <= self.tolerance and problem.residual(table * problem.records) <= self.tolerance


class _MarginFit:
    """The scaling step of one margin, and the logarithms of its multipliers so far."""

    def __init__(self, margin: Margin, problem: Problem) -> None:
        everything = margin.atoms.size == problem.prior.size
        self._atoms = slice(None) if everything else margin.atoms
        self._group_of = margin.group_of
        self._sum = indicator(margin.group_of, margin.groups, np.float64)
        self._target = margin.counts / problem.records
        self.log_multipliers = np.zeros_like(self._target)

    def apply(self, table: FloatArray) -> float:
        """Scale `table` (atoms, labels) in place; the largest difference there was before."""
        held = self._sum @ table[self._atoms]
        ratio = _ratio(self._target, held)
        table[self._atoms] *= ratio[self._group_of]
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
        """Scale `table` (atoms, labels) in place; the largest difference there was before."""
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


@dataclass(frozen=True, slots=True, eq=False)
class ScaledTable:
    """A table between two margins.

    Attributes:
        table: (rows, columns), zero where the seed is.
        sweeps: how often both margins were scaled to.
        residual: the largest absolute difference of a margin, over the total.
        converged: the residual is within the tolerance.
    """

    table: FloatArray
    sweeps: int
    residual: float
    converged: bool


def fit_two_margins(
    seed: FloatArray, rows: FloatArray, columns: FloatArray, *, tolerance: float = 1e-9, sweeps: int = 10_000
) -> ScaledTable:
    """The table closest to the seed (KL divergence) with these margins (Sinkhorn & Knopp 1967).

    It is `u_i * seed_ij * v_j`, so that a sweep is two products of the seed with a vector and the table is made
    only once.

    Args:
        seed: (rows, columns), not negative.
        rows: (rows,) the sums wanted, not negative; their total is that of the columns.
        columns: (columns,) the sums wanted, not negative.
        tolerance: of the residual.
        sweeps: give up after so many (at least 1): a seed of too many zeros fits no margins.

    Raises:
        ValueError: the shapes do not fit, or the totals differ by more than the tolerance.
    """
    _refuse_mismatch(seed, rows, columns, tolerance)
    total = max(float(rows.sum()), np.finfo(np.float64).tiny)
    wide, transposed = np.ascontiguousarray(seed), np.ascontiguousarray(seed.T)
    scale = (columns > 0).astype(np.float64)
    for sweep in range(1, sweeps + 1):
        row_scale = _quotient(rows, wide @ scale)
        held = transposed @ row_scale
        gap = float(np.abs(held * scale - columns).max(initial=0.0))
        if gap <= tolerance * total or sweep == sweeps:
            break
        scale = _quotient(columns, held)
    table = wide * row_scale[:, np.newaxis] * scale
    residual = max(gap, float(np.abs(table.sum(axis=1) - rows).max(initial=0.0))) / total
    return ScaledTable(table, sweep, residual, residual <= tolerance)


def _refuse_mismatch(seed: FloatArray, rows: FloatArray, columns: FloatArray, tolerance: float) -> None:
    if seed.shape != (rows.size, columns.size):
        raise ValueError(f"a seed of shape {seed.shape} has no margins of {rows.size} rows and {columns.size} columns")
    if abs(rows.sum() - columns.sum()) > tolerance * max(rows.sum(), columns.sum()):
        raise ValueError(f"the rows add up to {rows.sum()}, the columns to {columns.sum()}")


def _quotient(wanted: FloatArray, held: FloatArray) -> FloatArray:
    return np.divide(wanted, held, out=np.zeros_like(held), where=held > 0)
