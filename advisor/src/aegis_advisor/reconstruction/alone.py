"""A view whose counts are uncertain, by itself: what they say of all records, and the table closest to them."""

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.evidence import AttributeEvidence, Masking

LEAST_VARIANCE = 1e-12
"""Counts that do not vary have to move all the same where they do not add up; this much less than the others."""


def counts_of(masking: Masking) -> IntArray:
    """The counts (groups, labels) of a masking as published. ValueError if it has none."""
    if masking.joint is None:
        raise ValueError(f"masking {masking.id!r} has no counts")
    return masking.joint


def restored(masking: Masking, joint: IntArray, evidence: AttributeEvidence) -> tuple[FloatArray, FloatArray]:
    """Counts (groups, labels) of all records and their variances, as the masking's declarations have it."""
    return masking.perturbation.restored(joint, evidence.label_counts)


def fitted_alone(masking: Masking, evidence: AttributeEvidence) -> FloatArray:
    """The table (groups, labels) closest to the counts of a masking among those that have the label's histogram.

    For views of which nothing but the counts is known. It minimises `sum (table - count)^2 / variance` over tables that
    are not negative: in each column counts are lowered in proportion to their variance until they add up to the
    records of the class, negative ones left out (projection onto a simplex: Held, Wolfe & Crowder 1974). Where the
    label's histogram is not certain it gives way, too, in proportion to its own variance.
    """
    counts, variance = restored(masking, counts_of(masking), evidence)
    variance = np.maximum(variance, LEAST_VARIANCE)
    # The price of a class is what each unit of variance costs; counts below theirs are left with nothing.
    limits = counts / variance
    order = np.argsort(-limits, axis=0, kind="stable")
    limits, sums, weights = (np.take_along_axis(array, order, axis=0) for array in (limits, counts, variance))
    gives = 0.0 if evidence.knows_label else evidence.label_perturbation.count_variance
    prices = (np.cumsum(sums, axis=0) - evidence.label_counts) / (np.cumsum(weights, axis=0) + gives)
    kept = np.maximum((limits > prices).sum(axis=0), 1)
    price = np.take_along_axis(prices, kept[np.newaxis] - 1, axis=0)
    fitted: FloatArray = np.maximum(counts - variance * price, 0.0)
    return fitted
