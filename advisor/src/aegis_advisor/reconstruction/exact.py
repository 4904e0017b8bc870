"""Tables without iteration: groups spread over atoms, equations with one solution, fits to a single masking."""

import numpy as np
import scipy

from aegis_advisor.arrays import FloatArray, fold
from aegis_advisor.evidence import AttributeEvidence, Masking
from aegis_advisor.reconstruction.equations import incidence
from aegis_advisor.reconstruction.problem import Margin, Problem, counts_of, design_of, restored


def share_out(margin: Margin, prior: FloatArray) -> FloatArray:
    """Spread the counts of each group over its atoms in proportion to the prior (atoms,).

    `F(a, y) = p(a) * F_g(y) / p(g)` minimises KL(F || prior) if a group's counts are all that is known about its
    atoms. If the prior is the histogram, it also meets the rows (the paper's Algorithm 2 reaches it in one sweep).

    Returns:
        (members, labels), one row per atom of the margin.
    """
    weights = prior[margin.atoms]
    totals = fold(weights, margin.group_of, margin.groups)
    share = np.divide(weights, totals[margin.group_of], out=np.zeros_like(weights), where=weights > 0)
    return share[:, np.newaxis] * margin.counts[margin.group_of]


LEAST_VARIANCE = 1e-12
"""The variance of exact counts: they too must give way if they do not add up, but far less than the others."""

LARGEST = 1_500
"""The most atoms to try; the time grows with the cube of their number."""

SINGULAR = 1e-5
"""A pivot below this share of the largest is a rounding error. It is at most 2e-7 if other tables fit, else rarely
below 3e-3."""


def unique_table(problem: Problem) -> FloatArray | None:
    """The table (atoms, labels) that alone meets the margins; None if several or none do.

    Counts are whole numbers, so the solution of the normal equations is rounded and then checked exactly against every
    margin. No rounding error remains. The solution is unique if the atoms' rows of the design are independent; if
    labels are merged, the cells' rows, since the labels then depend on each other.
    """
    in_blocks = any(margin.column_of is not None for margin in problem.margins)
    unknowns = problem.prior.size * (problem.labels if in_blocks else 1)
    if unknowns > LARGEST or (not in_blocks and unknowns > sum(margin.groups for margin in problem.margins)):
        return None
    if in_blocks:
        equations, targets = incidence(problem)
        design, counts = equations.T.tocsr(), targets[:, np.newaxis]
    else:
        design, counts = design_of(problem), np.vstack([margin.counts for margin in problem.margins])
    if unknowns > np.count_nonzero(design.sum(axis=0)):
        return None
    try:
        factor = scipy.linalg.cho_factor((design @ design.T).toarray(), lower=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        return None
    pivots = np.diagonal(factor[0])
    if pivots.min() <= SINGULAR * pivots.max():  # singular up to rounding: other tables fit, too
        return None
    table: FloatArray = np.rint(scipy.linalg.cho_solve(factor, design @ counts)) + 0.0  # no -0.0
    table = table.reshape(problem.prior.size, problem.labels)
    return table if table.min() >= 0 and problem.residual(table) == 0 else None


def nearest_with_label(masking: Masking, evidence: AttributeEvidence) -> FloatArray:
    """The table (groups, labels) closest to the counts of a masking among those with the label's histogram.

    It is for views with known counts and no mapping. It minimises `sum (table - count)^2 / variance` over tables
    that are not negative. In each column, counts are lowered in proportion to their variance until they add up to the
    records of the label value, and negative ones are set to 0 (projection onto a simplex: Held, Wolfe & Crowder 1974).
    If the label's histogram is not certain, it is adjusted too, in proportion to its own variance.
    """
    counts, variance = restored(masking, counts_of(masking), evidence)
    variance = np.maximum(variance, LEAST_VARIANCE)
    # The price of a label value is how much its counts are lowered per unit of variance. Counts with a limit below the
    # price become 0.
    limits = counts / variance
    order = np.argsort(-limits, axis=0, kind="stable")
    limits, sums, weights = (np.take_along_axis(array, order, axis=0) for array in (limits, counts, variance))
    gives = 0.0 if evidence.knows_label else evidence.label_perturbation.count_variance
    prices = (np.cumsum(sums, axis=0) - evidence.label_counts) / (np.cumsum(weights, axis=0) + gives)
    kept = np.maximum((limits > prices).sum(axis=0), 1)
    price = np.take_along_axis(prices, kept[np.newaxis] - 1, axis=0)
    fitted: FloatArray = np.maximum(counts - variance * price, 0.0)
    return fitted
