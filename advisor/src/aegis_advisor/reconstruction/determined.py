"""Views that overlap so much that only one table fits: linear equations, solved to the last record."""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from aegis_advisor.arrays import FloatArray
from aegis_advisor.reconstruction.dual import design_of
from aegis_advisor.reconstruction.problem import Problem

LARGEST = 1_500
"""Atoms of a system that is still tried: it takes their cube."""

SINGULAR = 1e-5
"""A pivot this small beside the largest is rounding (at most 2e-7 where other tables fit, hardly below 3e-3 else)."""


def only_table(problem: Problem) -> FloatArray | None:
    """The one table (atoms, labels) that meets the margins; None if others do too, or none does.

    Counts are whole numbers, so the solution of the normal equations is rounded and then checked against every
    margin exactly: no rounding error survives. Whether there is one solution is decided by whether the atoms'
    rows of the design are independent.
    """
    if problem.prior.size > min(LARGEST, sum(margin.groups for margin in problem.margins)):
        return None
    design = design_of(problem)
    counts = np.vstack([margin.counts for margin in problem.margins])
    try:
        factor = cho_factor((design @ design.T).toarray(), lower=True, check_finite=False)
    except LinAlgError:
        return None
    pivots = np.diagonal(factor[0])
    if pivots.min() <= SINGULAR * pivots.max():  # singular but for rounding: other tables fit, too
        return None
    table: FloatArray = np.rint(cho_solve(factor, design @ counts)) + 0.0  # no -0.0
    return table if table.min() >= 0 and problem.residual(table) == 0 else None
