"""Forced zeros from the way in which a solver's table vanishes at them.

The table is the prior times exponentials of multipliers, and where it approaches a forced zero these grow
without end, along a combination of the equations that proves the zero. The logarithms of the table are thus such
a proof but for what stays bounded: the combination whose coefficients are 0 wherever the table does not vanish,
and next to those logarithms where it does, is the whole of it.
"""

import numpy as np

from aegis_advisor.arrays import BoolArray, FloatArray
from aegis_advisor.reconstruction.combination import combination
from aegis_advisor.reconstruction.equations import Equations
from aegis_advisor.reconstruction.proof import is_proven

SPREAD = 10.0
"""The logarithms of cells that do not vanish are about as large."""

CLEAR = 1e-2
"""A coefficient below this share of the logarithm that it stands for may be 0."""

LOST, UNKNOWN = 1e-290, 1e-4
"""Cells below this share of their margin have lost their logarithm: it weighs so much less."""

ROUNDS, PASSES = 2, 3


def vanishing_zeros(equations: Equations, suspects: BoolArray, table: FloatArray) -> BoolArray:
    """Which of the suspects (cells,) are proven to be zero in every table that fits; not always all that are.

    Args:
        equations: of all cells.
        suspects: cells that are small in the table.
        table: (cells,) a solver's approximate solution.
    """
    shares = table / equations.smallest_target()
    logarithms = np.maximum(-np.log(np.maximum(shares, LOST)), 1.0)
    known = np.where(shares > LOST, 1.0, UNKNOWN)
    left = suspects
    for _ in range(ROUNDS):
        dual = _direction(equations, left, logarithms, known)
        zero = left & (equations.transposed @ dual > CLEAR * logarithms)
        if is_proven(equations, dual, zero):
            return zero
        left = zero
    return np.zeros(suspects.size, dtype=bool)


def _direction(equations: Equations, suspects: BoolArray, logarithms: FloatArray, known: FloatArray) -> FloatArray:
    """The combination (equations,) next to the logarithms (cells,), relative to them, and 0 at all others."""
    expected = np.where(suspects, logarithms, SPREAD)
    weight = known / expected**2
    dual = combination(equations, weight, np.where(suspects, weight * logarithms, 0.0))
    others = (~suspects).astype(np.float64)
    for _ in range(PASSES):
        dual -= combination(equations, others, others * (equations.transposed @ dual))
    return dual
