"""The support of the reference: which cells can hold records at all, given the margins.

The reference is the table of least divergence from a positive prior, so that it is positive wherever any
table that fits is (Csiszar 1975, "I-divergence geometry of probability distributions and minimization
problems", theorem 3.1). A cell is forced to be zero when a margin of it is, or when margins leave nothing for
it together. A solver only approaches such zeros; here they are decided.

Both sides are checked. A zero has a proof in integers (`forced`). All other cells are positive together in one
table that meets every margin to rounding, where they are far above what it is missed by; a forced zero among
them would take a proof whose coefficients add up to more than `CLEAR`.
"""

import numpy as np

from app.advisor.arrays import BoolArray, FloatArray
from app.advisor.reconstruction.equations import Equations
from app.advisor.reconstruction.forced import forced_zeros
from app.advisor.reconstruction.problem import Problem

LARGEST = 2_000_000
"""Cells with positive margins beyond which the support is not looked for."""

LARGEST_PROGRAMME = 30_000
"""Cells of a linear programme beyond which it is not tried."""

CLEAR = 1e3
"""A cell this many times above what its part's equations are missed by is not zero."""

SMALL = 1e-3
"""A cell below this share of its smallest margin may be a zero that the solver has not reached."""

MISSED = 1e-9
"""No table fits where the best misses a count by more than this share of its part's largest."""

FLAT = 1e-13
"""A direction of less relative curvature changes no cell: it is rounding."""

ROUNDING = 16 * np.finfo(np.float64).eps
ATTEMPTS, PASSES, STEPS = 4, 6, 400


def support(problem: Problem, table: FloatArray) -> BoolArray | None:
    """Which cells are positive in some table that meets the margins, and so in the reference.

    Args:
        problem: its counts are integers below 2^53.
        table: (atoms, labels) the solver's approximate solution, a hint: the better it fits, the less is left
            to linear programmes.

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
    found = np.zeros(table.size, dtype=bool)
    found[equations.cells] = held
    return found.reshape(table.shape)


def _decide(equations: Equations, table: FloatArray) -> BoolArray | None:
    """Which cells (cells,) can be positive: guess the zeros, prove them, see whether the rest is positive.

    Where it is not, all cells of that part come under suspicion; then the table is not needed any more.
    """
    point = np.maximum(table, 0.0)
    small = point <= SMALL * equations.smallest_target()
    zero = suspects = np.zeros(table.size, dtype=bool)
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
        answer = forced_zeros(equations, suspects, point)
        if answer is None:
            return None
        zero, point = answer.zero, answer.point
    return None


def _fitted(equations: Equations, start: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The table (cells,) near the start that fits best, and by how much each part (parts,) misses a count."""
    table, gap = start, equations.gap(start)
    for _ in range(PASSES):
        nearer = table * np.clip(1.0 + _relative_change(equations, table, gap), 0.1, 10.0)
        left = equations.gap(nearer)
        if np.abs(left).max(initial=0.0) >= np.abs(gap).max(initial=0.0):
            break
        table, gap = nearer, left
    missed = np.finfo(np.float64).eps * equations.largest_target()
    np.maximum.at(missed, equations.part_of_equation, np.abs(gap))
    return table, missed


def _relative_change(equations: Equations, table: FloatArray, gap: FloatArray) -> FloatArray:
    """The change (cells,), relative to the table, that closes the gap with the least `sum change^2 * table`.

    It is a combination of the equations, which conjugate gradients find from their normal equations: singular,
    as margins overlap, but consistent where any table fits. Written out, since a step without curvature is the
    end here and not a division by zero.
    """
    weight = equations.matrix @ table
    weight[weight <= 0] = 1.0
    combination, left = np.zeros(gap.size), gap.copy()
    towards, size = left / weight, float(left @ (left / weight))
    enough = max(1e-12 * size, ROUNDING**2 * float(weight.sum()))
    for _ in range(STEPS):
        image = equations.matrix @ (table * (equations.transposed @ towards))
        curvature = float(towards @ image)
        if size <= enough or curvature <= FLAT * float(towards @ (weight * towards)):
            break
        combination += size / curvature * towards
        left -= size / curvature * image
        previous, size = size, float(left @ (left / weight))
        towards = left / weight + size / previous * towards
    change: FloatArray = equations.transposed @ combination
    return change
