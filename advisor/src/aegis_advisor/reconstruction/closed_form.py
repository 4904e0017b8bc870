"""The closed form, where every atom is in a single group: views that nest, once implied groups are gone."""

import numpy as np

from aegis_advisor.arrays import FloatArray, fold
from aegis_advisor.reconstruction.problem import Margin


def share_out(margin: Margin, prior: FloatArray) -> FloatArray:
    """Share the counts of each group among its atoms in proportion to the prior (atoms,).

    `F(a, y) = p(a) * F_g(y) / p(g)`: the minimiser of KL(F || prior) when a group's counts are all that is
    known of its atoms. Where the prior is the histogram it meets the rows, too
    (the paper's Algorithm 2 reaches it in one sweep).

    Returns:
        (members, labels), one row per atom of the margin.
    """
    weights = prior[margin.atoms]
    totals = fold(weights, margin.group_of, margin.groups)
    share = np.divide(weights, totals[margin.group_of], out=np.zeros_like(weights), where=weights > 0)
    return share[:, np.newaxis] * margin.counts[margin.group_of]
