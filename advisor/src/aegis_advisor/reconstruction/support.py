"""The support of the reference: the cells that can have records, given the margins.

The reference is the table of least divergence from a positive prior, so it is positive wherever any table that fits is
(Csiszar 1975, "I-divergence geometry of probability distributions and minimization problems", theorem 3.1). A cell is
zero if one of its margins is zero, or if several margins together force it to be. A solver only approaches zeros of the
second kind; this module decides them.

Both sides are checked. A zero has a proof in integers (`zeros`): the cell is 0 in every table of whole numbers that
fits, and less than a millionth of a record in any other. The proof usually comes from the way the solver's table
vanishes there; otherwise small problems use a linear program. All other cells are positive in one table that meets
every margin up to rounding, and are far above its residual. For one of them to be zero, a proof would need coefficients
that add up to more than `CLEAR`.
"""

import numpy as np

from aegis_advisor.arrays import BoolArray, FloatArray
from aegis_advisor.reconstruction.equations import Equations, solve_normal_equations
from aegis_advisor.reconstruction.problem import Problem
from aegis_advisor.reconstruction.zeros import SMALL, zeros_of_logarithms, zeros_of_program

LARGEST = 500_000
"""The most cells of a table for which the support is determined."""

LARGEST_PROGRAMME = 600
"""The most cells of a linear program."""

CLEAR = 1e3
"""A cell this many times above the residual of its part's equations is not zero."""

MISSED = 1e-9
"""No table fits if the best one deviates from a count by more than this share of the largest count of its part."""

LIFTED = 1e-4
"""A small cell starts at this share of its smallest margin."""

ATTEMPTS, PASSES = 4, 6


def support(problem: Problem, table: FloatArray, empty: BoolArray | None = None) -> BoolArray | None:
    """Determine which cells are positive in some table that meets the margins, and so in the reference.

    Args:
        problem: with counts that are integers below 2^53.
        table: (atoms, labels) the solver's approximate solution as a hint. The better it fits, the less depends on
            linear programs, which are for small problems only.
        empty: (atoms, labels) cells already proven empty, if any.

    Returns:
        (atoms, labels), or None if the support is not known: no table fits, a margin is not exact, the problem is too
        large, or there was no proof.
    """
    exact = all(margin.is_exact for margin in problem.margins)
    if not exact or problem.prior.size * problem.labels > LARGEST:
        return None
    equations = Equations.of(problem, empty)
    if equations is None:
        return None
    held = _decide(equations, table.ravel()[equations.cells])
    if held is None:
        return None
    positive = np.zeros(table.size, dtype=bool)
    positive[equations.cells] = held
    return positive.reshape(table.shape)


def _decide(equations: Equations, table: FloatArray) -> BoolArray | None:
    """Which cells (cells,) can be positive: prove zeros, then check that the others are positive.

    If some are not, a linear program decides, at first for the small cells of their part. If that is not enough, it
    decides for all cells of that part, without the table.
    """
    smallest = equations.smallest_target()
    small = table <= SMALL * smallest
    zero = suspects = zeros_of_logarithms(equations, small, table)
    point = np.where(zero, 0.0, np.maximum(table, LIFTED * smallest))
    for attempt in range(ATTEMPTS):
        point, missed = _fitted(equations, point)
        doubtful = ~zero & (point <= CLEAR * missed[equations.part_of_cell])
        if not doubtful.any():
            return ~zero if np.all(missed <= MISSED * equations.largest_target()) else None
        part = equations.same_part(doubtful)
        wider = suspects | doubtful | (part if attempt > 0 else part & small)
        if np.array_equal(wider, suspects) or np.count_nonzero(equations.same_part(wider)) > LARGEST_PROGRAMME:
            return None
        suspects = wider
        answer = zeros_of_program(equations, suspects, point)
        if answer is None:
            return None
        zero, point = answer.zero, answer.point
    return None


def _fitted(equations: Equations, start: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The best-fitting table (cells,) near the start, and the largest gap to a count in each part (parts,).

    It ends early once the table fits well enough that no cell is in doubt.
    """
    table, gap = start, equations.gap(start)
    for _ in range(PASSES):
        if _is_clear(equations, table, _missed(equations, gap)):
            break
        # The relative change that closes the gap with the least `sum change^2 * table`.
        change = equations.transposed @ solve_normal_equations(equations, table, gap)
        nearer = table * np.clip(1.0 + change, 0.1, 10.0)
        left = equations.gap(nearer)
        if np.abs(left).max(initial=0.0) >= np.abs(gap).max(initial=0.0):
            break
        table, gap = nearer, left
    return table, _missed(equations, gap)


def _missed(equations: Equations, gap: FloatArray) -> FloatArray:
    """The largest gap (equations,) in each part (parts,), at least the rounding error."""
    missed = np.finfo(np.float64).eps * equations.largest_target()
    np.maximum.at(missed, equations.part_of_equation, np.abs(gap))
    return missed


def _is_clear(equations: Equations, table: FloatArray, missed: FloatArray) -> bool:
    """Whether every positive cell (cells,) is clearly above the gap of its part (parts,), and the table fits."""
    held = table > 0
    above = table[held] > CLEAR * missed[equations.part_of_cell[held]]
    return bool(above.all() and np.all(missed <= MISSED * equations.largest_target()))
