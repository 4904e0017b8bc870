"""Combinations of equations: least squares over cells, by conjugate gradients."""

import numpy as np

from aegis_advisor.arrays import FloatArray
from aegis_advisor.reconstruction.equations import Equations

FLAT = 1e-13
"""A direction of less relative curvature changes no cell: it is rounding."""

ENOUGH, STEPS = 1e-12, 400
ROUNDING = 16 * np.finfo(np.float64).eps


def combination(equations: Equations, weight: FloatArray, wanted: FloatArray) -> FloatArray:
    """The combination (equations,) whose coefficients come closest to those wanted.

    It minimises `sum weight * (coefficient - wanted / weight)^2` over cells: `weight` (cells,) is not negative,
    `wanted` (cells,) is 0 where that is.
    """
    return solved(equations, weight, equations.matrix @ wanted)


def solved(equations: Equations, weight: FloatArray, right: FloatArray) -> FloatArray:
    """A solution (equations,) of `matrix @ diag(weight) @ matrix.T @ v = right`.

    Singular, as margins overlap, but consistent where any table fits. Conjugate gradients (Hestenes & Stiefel
    1952) are written out, since a step without curvature is the end here and not a division by zero.
    """
    diagonal = equations.matrix @ weight
    diagonal[diagonal <= 0] = 1.0
    found, left = np.zeros(right.size), right.copy()
    towards, size = left / diagonal, float(left @ (left / diagonal))
    enough = max(ENOUGH * size, ROUNDING**2 * float(diagonal.sum()))
    for _ in range(STEPS):
        image = equations.matrix @ (weight * (equations.transposed @ towards))
        curvature = float(towards @ image)
        if size <= enough or curvature <= FLAT * float(towards @ (diagonal * towards)):
            break
        found += size / curvature * towards
        left -= size / curvature * image
        previous, size = size, float(left @ (left / diagonal))
        towards = left / diagonal + size / previous * towards
    return found
