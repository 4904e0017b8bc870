"""The support of the reference: the cells that can have records, given the margins.

The reference is the table of least divergence from a positive prior, so it is positive wherever any table that fits is
(Csiszar 1975, "I-divergence geometry of probability distributions and minimization problems", theorem 3.1). A cell is
zero if one of its margins is zero, or if several margins together force it to be. A solver only approaches zeros of the
second kind; this module decides them.

Both sides are checked. A zero has a proof in integers (`proves_zeros`): the cell is 0 in every table of whole numbers
that fits, and less than a millionth of a record in any other. The proof usually comes from the way the solver's table
vanishes there; otherwise small problems use a linear program. All other cells are positive in one table that meets
every margin up to rounding, and are far above its residual. For one of them to be zero, a proof would need coefficients
that add up to more than `CLEAR`.

By Farkas' lemma (Schrijver 1986, "Theory of linear and integer programming", corollary 7.1d) a cell is zero in every
table that fits exactly if some linear combination `d` of the equations has coefficients `c` that are nowhere negative
and positive at the cell, while `d` times the counts is 0. Entries of `d` that are fractions with small denominators are
recovered exactly. Other entries (quotients of determinants, which can have hundreds of digits) are rounded: `d` is
scaled and rounded to integers. Then `c` and `d @ target` are exact, and every table that fits has

    sum of c * cell = d @ target,    so    c_z * cell_z <= d @ target + sum of max(-c, 0) * smallest margin.

This leaves so little for the cell that no table of whole numbers, such as the unmasked one, has a record there.

There are two ways to find such a combination. A solver's table is the prior times exponentials of multipliers. Where it
approaches a zero, these grow without limit along a combination that proves the zero, so the logarithms of the table are
the proof up to bounded terms. In small problems a linear program finds one for all zeros at once. Its dual solution is
a vertex of a polyhedron with coefficients 0 and 1, so its entries are fractions.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
import scipy

from aegis_advisor.arrays import BoolArray, FloatArray, IntArray
from aegis_advisor.reconstruction.equations import Equations, closest_combination, solve_normal_equations
from aegis_advisor.reconstruction.problem import Problem

SMALL = 1e-3
"""A cell below this share of its smallest margin may be a zero that the solver only approaches."""

LEAST = 1e-6
"""A cell with at most this part of a record in every table that fits is zero."""

DENOMINATOR = 64
MULTIPLE = 2**20
"""The largest denominator tried for an entry of a proof, and the largest common denominator of all entries."""

CAREFUL = 1 + 1e-9
"""A factor that covers rounding errors in a sum of terms of the same sign."""


def proves_zeros(equations: Equations, dual: FloatArray, zero: BoolArray) -> bool:
    """Whether a combination (equations,), converted to integers, proves these cells (cells,) zero."""
    if not zero.any():
        return True
    if _leaves_nothing(equations, _scaled(equations, dual), zero):
        return True
    whole = _common_multiple(dual)
    return whole is not None and _leaves_nothing(equations, whole, zero)


def _leaves_nothing(equations: Equations, whole: IntArray, zero: BoolArray) -> bool:
    """Whether the integers (equations,) leave less than `LEAST` of a record for each of these cells."""
    coefficients = equations.transposed.astype(np.int64) @ whole
    least = float(coefficients[zero].min())
    pairs = zip(whole.tolist(), equations.target.tolist(), strict=True)
    total = sum(factor * int(count) for factor, count in pairs)
    below = np.maximum(-coefficients, 0).astype(np.float64)
    room = total + CAREFUL * float(below @ equations.smallest_target())
    return least > 0 and 0 <= room <= LEAST * least


def _scaled(equations: Equations, dual: FloatArray) -> IntArray:
    """The combination times the largest power of two for which its coefficients stay below 2^63, rounded."""
    most = int(np.diff(equations.transposed.indptr).max())
    exponent = 62 - most.bit_length() - int(np.frexp(np.abs(dual).max())[1])
    return np.rint(np.ldexp(dual, exponent)).astype(np.int64)


def _common_multiple(dual: FloatArray) -> IntArray | None:
    """The combination as fractions with small denominators, times their least common multiple; None if too large."""
    used = np.flatnonzero(np.abs(dual) > 1 / DENOMINATOR**2)
    fractions = [Fraction(float(entry)).limit_denominator(DENOMINATOR) for entry in dual[used]]
    multiple = lcm(*(entry.denominator for entry in fractions))
    if multiple > MULTIPLE or any(abs(entry) > MULTIPLE for entry in fractions):
        return None
    whole = np.zeros(dual.size, dtype=np.int64)
    whole[used] = [int(entry * multiple) for entry in fractions]
    return whole


SPREAD = 10.0
"""The typical size of the logarithms of cells that do not vanish."""

DISTINCT = 1e-2
"""A coefficient below this share of its cell's logarithm may be 0."""

LOST, UNKNOWN = 1e-290, 1e-4
"""The logarithm of a cell below the first share of its smallest margin is lost to rounding and gets the second as its
weight."""

PROOF_ATTEMPTS, REFINEMENTS = 2, 3


def proven_zeros(problem: Problem, table: FloatArray, empty: BoolArray | None = None) -> BoolArray:
    """Which cells (atoms, labels) are proven empty in every table that fits, although none of their margins is 0.

    Args:
        problem: with exact margins, whose counts are integers below 2^53.
        table: (atoms, labels) a solver's approximate solution. It may miss some zeros, fewer if it fits better.
        empty: (atoms, labels) zeros already proven; they are included in the result.
    """
    zero = np.zeros(table.size, dtype=bool) if empty is None else empty.flatten()
    equations = Equations.of(problem, empty)
    if equations is not None:
        cells = table.ravel()[equations.cells]
        suspects = cells <= SMALL * equations.smallest_target()
        zero[equations.cells] = zeros_of_logarithms(equations, suspects, cells)
    return zero.reshape(table.shape)


def zeros_of_logarithms(equations: Equations, suspects: BoolArray, table: FloatArray) -> BoolArray:
    """Which of the suspects (cells,) are proven zero in every table that fits. It may miss some zeros.

    Args:
        suspects: cells that are small in the table.
        table: (cells,) a solver's approximate solution.
    """
    shares = table / equations.smallest_target()
    logarithms = np.maximum(-np.log(np.maximum(shares, LOST)), 1.0)
    known = np.where(shares > LOST, 1.0, UNKNOWN)
    left = suspects
    for _ in range(PROOF_ATTEMPTS):
        dual = _direction(equations, left, logarithms, known)
        zero = left & (equations.transposed @ dual > DISTINCT * logarithms)
        if proves_zeros(equations, dual, zero):
            return zero
        left = zero
    return np.zeros(suspects.size, dtype=bool)


def _direction(equations: Equations, suspects: BoolArray, logarithms: FloatArray, known: FloatArray) -> FloatArray:
    """The combination (equations,) closest to the suspects' logarithms (cells,) in relative terms, and 0 elsewhere."""
    expected = np.where(suspects, logarithms, SPREAD)
    weight = known / expected**2
    dual = closest_combination(equations, weight, np.where(suspects, weight * logarithms, 0.0))
    others = (~suspects).astype(np.float64)
    for _ in range(REFINEMENTS):
        dual -= closest_combination(equations, others, others * (equations.transposed @ dual))
    return dual


STEPS = 5_000
"""The most simplex steps of a linear program. A time limit would make results irreproducible."""


@dataclass(frozen=True, slots=True, eq=False)
class ProgramZeros:
    """The suspects that are zero, and a table in which all other cells are positive.

    Attributes:
        zero: (cells,) the cells proven 0 in every table that fits.
        point: (cells,) a table that nearly fits, positive everywhere else.
    """

    zero: BoolArray
    point: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class _Raise:
    """The solution of the linear program.

    Attributes:
        direction: (cells,) a table whose sums are the scale of the part times the counts.
        scale: (parts,).
        dual: (equations,).
    """

    direction: FloatArray
    scale: FloatArray
    dual: FloatArray


def zeros_of_program(equations: Equations, suspects: BoolArray, point: FloatArray) -> ProgramZeros | None:
    """Determine which of the suspects (cells,) are zero in every table that fits.

    Args:
        equations: the equations in all cells.
        suspects: the cells to decide; each of the others is assumed to be positive in some table that fits.
        point: (cells,) a table that nearly fits, positive in all cells but the suspects. It is not used in a part
            where all cells are suspects.

    Returns:
        None if the solver failed, or if its proof is invalid.
    """
    raised = _raise(equations, suspects)
    if raised is None:
        return None
    zero = suspects & (raised.direction < 0.5)  # noqa: PLR2004 - it is 0, or at least 1
    if not proves_zeros(equations, raised.dual, zero):
        return None
    return ProgramZeros(zero, np.where(zero, 0.0, _moved(equations, suspects, point, raised)))


def _raise(equations: Equations, suspects: BoolArray) -> _Raise | None:
    """Find a direction `h` that raises as many suspects as possible: maximise `sum s` such that

        matrix @ h = scale of the part * target,    h >= s at suspects, free elsewhere,    0 <= s <= 1.

    These directions form a cone, so all suspects that any of them raises reach 1 together. With `r = h - s` at suspects
    and `r = h` elsewhere, all constraints are equations and bounds of variables.
    """
    cells = np.flatnonzero(equations.same_part(suspects))
    concerned = np.zeros(equations.parts, dtype=bool)
    concerned[equations.part_of_cell[cells]] = True
    rows = np.flatnonzero(concerned[equations.part_of_equation])
    chosen = np.flatnonzero(suspects[cells])
    matrix = equations.matrix[rows][:, cells]
    scaled, unit = _counts(equations, rows)
    sizes = (cells.size, chosen.size, unit.size)
    lower = np.concatenate(
        [np.where(suspects[cells], 0.0, -np.inf), np.zeros(chosen.size), np.full(unit.size, -np.inf)]
    )
    upper = np.repeat([np.inf, 1.0, np.inf], sizes)
    optimum = scipy.optimize.linprog(
        -np.repeat([0.0, 1.0, 0.0], sizes),
        A_eq=scipy.sparse.hstack([matrix, matrix[:, chosen], scaled], format="csc"),
        b_eq=np.zeros(rows.size),
        bounds=list(zip(lower.tolist(), upper.tolist(), strict=True)),
        method="highs-ds",
        options={"maxiter": STEPS},
    )
    if optimum.status != 0 or optimum.x is None:
        return None
    rest, reached, scale = np.split(optimum.x, np.cumsum(sizes[:2]))
    answer = _Raise(np.zeros(suspects.size), np.zeros(equations.parts), np.zeros(equations.target.size))
    answer.direction[cells] = rest
    answer.direction[cells[chosen]] += reached
    answer.scale[concerned] = scale / unit
    answer.dual[rows] = -optimum.eqlin.marginals
    return answer


def _counts(equations: Equations, rows: IntArray) -> "tuple[scipy.sparse.coo_array, FloatArray]":
    """The negated counts (rows, parts) of these equations, and the unit (parts,) of each part's counts."""
    parts, part = np.unique(equations.part_of_equation[rows], return_inverse=True)
    unit = np.zeros(parts.size)
    np.maximum.at(unit, part, equations.target[rows])
    counts = -equations.target[rows] / unit[part]
    return scipy.sparse.coo_array((counts, (np.arange(rows.size), part)), shape=(rows.size, parts.size)), unit


def _moved(equations: Equations, suspects: BoolArray, point: FloatArray, raised: _Raise) -> FloatArray:
    """The weighted mean of point and direction, in which all cells but suspects stay positive."""
    weight = np.zeros(equations.parts)
    sure = np.flatnonzero(~suspects)
    falls = np.maximum(-raised.direction[sure], 0.0) / point[sure]
    np.maximum.at(weight, equations.part_of_cell[sure], 2.0 * np.maximum(falls, 0.5))
    weight = np.maximum(weight, np.where(weight > 0, 2.0 * np.abs(raised.scale), 0.0))
    total = np.maximum(weight + raised.scale, np.finfo(np.float64).tiny)
    part = equations.part_of_cell
    mean: FloatArray = (weight[part] * point + raised.direction) / total[part]
    return mean


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
