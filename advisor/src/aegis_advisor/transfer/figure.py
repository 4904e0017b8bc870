"""A transfer utility with its standard error, and the figure of rules that predict shares of the labels."""

from dataclasses import dataclass
from math import sqrt
from typing import Self

import numpy as np
import scipy

from aegis_advisor.arrays import FloatArray
from aegis_advisor.measures.margins import ratio

CONFIDENCE = 1.96
"""95 % of a normal distribution lie within so many standard deviations."""

_UPPER = 0.975


@dataclass(frozen=True, slots=True)
class Figure:
    """A transfer utility.

    Its interval holds the figure of the same rule on endless records about 95 % of the time; `docs/model.md` says in
    which tables that was measured, with how few records of the rarest label.

    Attributes:
        value: the utility, in the unit of its measure.
        standard_error: how much it varies because the records that it was evaluated on are a sample. The rule is taken
            as given.
        low: the lower limit of the 95 % interval.
        high: the upper limit of it.
    """

    value: float
    standard_error: float
    low: float
    high: float

    @classmethod
    def mean(cls, value: float, influence: FloatArray, weights: FloatArray, records: float) -> Self:
        """A mean over records, with an interval by Student's distribution.

        With few records of a label, the spread among them is uncertain, too. The degrees of freedom are those of a sum
        over labels (Satterthwaite 1946, "An approximate distribution of estimates of variance components").

        Args:
            value: the mean.
            influence: (rows, labels) how much a record of each cell moves it, times the records; 0 on average.
            weights: (rows, labels) the share of the records in each cell.
            records: the number of records.
        """
        variances = np.sum(weights * influence**2, axis=0) / records
        others = np.maximum(records * weights.sum(axis=0) - 1, 1)
        whole, uncertain = float(variances.sum()), float(np.sum(variances**2 / others))
        error = sqrt(whole)
        half = error * float(scipy.special.stdtrit(whole**2 / uncertain, _UPPER)) if uncertain > 0 else 0.0
        return cls(value, error, value - half, value + half)

    @classmethod
    def share(cls, value: float, records: float) -> Self:
        """A share of records, with Wilson's interval (1927, "Probable inference, the law of succession")."""
        square, variance = CONFIDENCE**2, value * (1 - value)
        half = CONFIDENCE * sqrt(variance / records + square / (4 * records**2))
        low, high = ((value + square / (2 * records) + sign * half) / (1 + square / records) for sign in (-1, 1))
        return cls(value, sqrt(variance / records), min(low, value), max(high, value))


def explained(rule: FloatArray, holdout: FloatArray) -> Figure:
    """How much of the label a rule explains: `sum_y (2 E[h_y 1_y] - E[h_y^2]) / P_y - 1`.

    It equals `sum_y 1/P(y) sum_a P(a) [2 (h_a(y) - P(y)) (P(y|a) - P(y)) - (h_a(y) - P(y))^2]`, since the terms in
    `P(y)` add up to 1. Labels without held-out records are left out. `docs/model.md` has the proof of what it equals
    where the rule was learned from the same records.

    Args:
        rule: (rows, labels) the predicted shares of the labels, `h`.
        holdout: (rows, labels) how many held-out records have each row's attributes and each label, at least one.
    """
    records = float(holdout.sum())
    joint = holdout / records
    label = joint.sum(axis=0)
    squares = np.sum(joint.sum(axis=1)[:, np.newaxis] * rule**2, axis=0)
    right = 2 * np.sum(joint * rule, axis=0) - squares
    value = float(ratio(right, label).sum()) - 1.0
    missed = np.sum(ratio(rule**2, label), axis=1, keepdims=True)
    influence = ratio(2 * rule, label) - missed - ratio(right, label**2)
    return Figure.mean(value, influence, joint, records)
