"""Cells that margins force to be zero together: one linear programme, whose dual proves it.

The dual is a combination of the equations that proves all forced zeros at once (`proof`); it is a vertex of a
polyhedron with coefficients 0 and 1, so that its entries are fractions.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, hstack

from aegis_advisor.arrays import BoolArray, FloatArray, IntArray
from aegis_advisor.reconstruction.equations import Equations
from aegis_advisor.reconstruction.proof import is_proven

STEPS = 5_000
"""Simplex steps before a programme is given up. A limit on time would not give the same answer twice."""


@dataclass(frozen=True, slots=True, eq=False)
class ForcedZeros:
    """What the margins say of the suspects.

    Attributes:
        zero: (cells,) those that are 0 in every table that fits; proven.
        point: (cells,) a table that nearly fits, positive everywhere else.
    """

    zero: BoolArray
    point: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class _Raise:
    """The solution of the programme.

    `direction` (cells,) adds up to `scale` (parts,) times the counts; `dual` is (equations,).
    """

    direction: FloatArray
    scale: FloatArray
    dual: FloatArray


def forced_zeros(equations: Equations, suspects: BoolArray, point: FloatArray) -> ForcedZeros | None:
    """Which of the suspects (cells,) are zero in every table that fits.

    Args:
        equations: of all cells.
        suspects: the cells to decide; the others can be positive, which is believed.
        point: (cells,) a table that nearly fits, positive where there is no suspect. It is not looked at
            where all cells of a part are suspects.

    Returns:
        None if the programme was given up, or if its proof does not hold.
    """
    raised = _raise(equations, suspects)
    if raised is None:
        return None
    zero = suspects & (raised.direction < 0.5)  # noqa: PLR2004 - it is 0, or at least 1
    if not is_proven(equations, raised.dual, zero):
        return None
    return ForcedZeros(zero, np.where(zero, 0.0, _moved(equations, suspects, point, raised)))


def _raise(equations: Equations, suspects: BoolArray) -> _Raise | None:
    """The direction `h` that raises as many suspects as any does: maximise `sum s` such that

        matrix @ h = scale of the part * target,    h >= s at suspects, free elsewhere,    0 <= s <= 1.

    These directions are a cone, so that all suspects which some of them raise reach 1 together. Where `r` is
    `h - s` at suspects and `h` elsewhere, all constraints are equations and limits of variables.
    """
    cells = np.flatnonzero(equations.same_part(suspects))
    own = np.zeros(equations.parts, dtype=bool)
    own[equations.part_of_cell[cells]] = True
    rows = np.flatnonzero(own[equations.part_of_equation])
    chosen = np.flatnonzero(suspects[cells])
    matrix = equations.matrix[rows][:, cells]
    scaled, unit = _counts(equations, rows)
    sizes = (cells.size, chosen.size, unit.size)
    lower = np.concatenate(
        [np.where(suspects[cells], 0.0, -np.inf), np.zeros(chosen.size), np.full(unit.size, -np.inf)]
    )
    upper = np.repeat([np.inf, 1.0, np.inf], sizes)
    found = linprog(
        -np.repeat([0.0, 1.0, 0.0], sizes),
        A_eq=hstack([matrix, matrix[:, chosen], scaled], format="csc"),
        b_eq=np.zeros(rows.size),
        bounds=list(zip(lower.tolist(), upper.tolist(), strict=True)),
        method="highs-ds",
        options={"maxiter": STEPS},
    )
    if found.status != 0 or found.x is None:
        return None
    rest, reached, scale = np.split(found.x, np.cumsum(sizes[:2]))
    answer = _Raise(np.zeros(suspects.size), np.zeros(equations.parts), np.zeros(equations.target.size))
    answer.direction[cells] = rest
    answer.direction[cells[chosen]] += reached
    answer.scale[own] = scale / unit
    answer.dual[rows] = -found.eqlin.marginals
    return answer


def _counts(equations: Equations, rows: IntArray) -> tuple[coo_array, FloatArray]:
    """The negated counts (rows, parts) of these equations, and the unit (parts,) that each part's are in."""
    parts, part = np.unique(equations.part_of_equation[rows], return_inverse=True)
    unit = np.zeros(parts.size)
    np.maximum.at(unit, part, equations.target[rows])
    counts = -equations.target[rows] / unit[part]
    return coo_array((counts, (np.arange(rows.size), part)), shape=(rows.size, parts.size)), unit


def _moved(equations: Equations, suspects: BoolArray, point: FloatArray, raised: _Raise) -> FloatArray:
    """The mean of the point and the direction, with as much of the point as keeps every sure cell positive."""
    weight = np.zeros(equations.parts)
    sure = np.flatnonzero(~suspects)
    falls = np.maximum(-raised.direction[sure], 0.0) / point[sure]
    np.maximum.at(weight, equations.part_of_cell[sure], 2.0 * np.maximum(falls, 0.5))
    weight = np.maximum(weight, np.where(weight > 0, 2.0 * np.abs(raised.scale), 0.0))
    total = np.maximum(weight + raised.scale, np.finfo(np.float64).tiny)
    part = equations.part_of_cell
    mean: FloatArray = (weight[part] * point + raised.direction) / total[part]
    return mean
