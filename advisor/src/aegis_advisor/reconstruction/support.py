"""The support of the reference: which cells can hold records at all, given the margins.

The reference is the table of least divergence from a positive prior, so that it is positive wherever any
table that fits is (Csiszar 1975, "I-divergence geometry of probability distributions and minimization
problems", theorem 3.1). A cell is zero when a margin of it is, or when several margins leave nothing for it. A solver
only approaches such zeros; here they are decided.

Both sides are checked. A zero has a proof in integers (`zeros`): it is 0 in every table of whole numbers that
fits, and less than a millionth of a record in any other. The proof is mostly found from how the solver's table
vanishes, in small problems otherwise by a linear programme. All other cells are positive in one table that meets
every margin to rounding, where they are far above what it is missed by; a zero among them would take a proof
whose coefficients add up to more than `CLEAR`.
"""

import numpy as np

from aegis_advisor.arrays import BoolArray, FloatArray
from aegis_advisor.reconstruction.equations import Equations, solve_normal_equations
from aegis_advisor.reconstruction.problem import Problem
from aegis_advisor.reconstruction.zeros import zeros_of_logarithms, zeros_of_program

LARGEST = 500_000
"""Cells with positive margins beyond which the support is not looked for."""

LARGEST_PROGRAMME = 600
"""Cells of a linear programme beyond which it is not tried."""

CLEAR = 1e3
"""A cell this many times above what its part's equations are missed by is not zero."""

SMALL = 1e-3
"""A cell below this share of its smallest margin may be a zero that the solver has not reached."""

MISSED = 1e-9
"""No table fits where the best misses a count by more than this share of its part's largest."""

LIFTED = 1e-4
"""The share of its smallest margin that a small cell is tried with."""

ATTEMPTS, PASSES = 4, 6


def support(problem: Problem, table: FloatArray) -> BoolArray | None:
    """Which cells are positive in some table that meets the margins, and so in the reference.

    Args:
        problem: its counts are integers below 2^53.
        table: (atoms, labels) the solver's approximate solution, a hint: the better it fits, the more is decided
            without linear programmes, which only small problems are left to.

    Returns:
        (atoms, labels), or None where it is not known: no table fits, a margin is not exact, the problem is too
        large, or a proof was not found.
    """
    exact = all(margin.is_exact for margin in problem.margins)
    if not exact or problem.prior.size * problem.labels > LARGEST:
        return None
    equations = Equations.of(problem)
    if equations is None:
        return None
    held = _decide(equations, table.ravel()[equations.cells])
    if held is None:
        return None
    positive = np.zeros(table.size, dtype=bool)
    positive[equations.cells] = held
    return positive.reshape(table.shape)


def _decide(equations: Equations, table: FloatArray) -> BoolArray | None:
    """Which cells (cells,) can be positive: prove zeros, see whether the rest is positive.

    Where it is not, a linear programme decides, first of its small cells; if that is not enough, of all cells
    of that part, for which the table is not needed any more.
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
    """The table (cells,) near the start that fits best, and by how much each part (parts,) misses a count."""
    table, gap = start, equations.gap(start)
    for _ in range(PASSES):
        # The change that closes the gap with the least `sum change^2 * table`, relative to the table.
        change = equations.transposed @ solve_normal_equations(equations, table, gap)
        nearer = table * np.clip(1.0 + change, 0.1, 10.0)
        left = equations.gap(nearer)
        if np.abs(left).max(initial=0.0) >= np.abs(gap).max(initial=0.0):
            break
        table, gap = nearer, left
    missed = np.finfo(np.float64).eps * equations.largest_target()
    np.maximum.at(missed, equations.part_of_equation, np.abs(gap))
    return table, missed
