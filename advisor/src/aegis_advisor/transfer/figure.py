"""A transfer utility with its standard error, and the utility of rules that predict shares of the labels."""

from dataclasses import dataclass
from math import sqrt
from typing import Self

import numpy as np
import scipy

from aegis_advisor.arrays import FloatArray
from aegis_advisor.measures.margins import ratio

CONFIDENCE = 1.96
"""The two-sided 95 % quantile of a standard normal variable."""

_UPPER = 0.975


@dataclass(frozen=True, slots=True)
class Figure:
    """A transfer utility.

    Its interval covers the utility of the same rule on endless records about 95 % of the time; `docs/model.md` says for
    which tables this was measured, with how few records of the rarest label.

    Attributes:
        value: the utility, in the unit of its measure.
        standard_error: due to the sampling of the evaluation records, for a given rule.
        low: the lower limit of the 95 % interval.
        high: its upper limit.
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
            influence: (rows, labels) the change by one record of each cell, times the records; 0 on average.
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
    """The share of the label that a rule explains: `sum_y (2 E[h_y 1_y] - E[h_y^2]) / P_y - 1`.

    It equals `sum_y 1/P(y) sum_a P(a) [2 (h_a(y) - P(y)) (P(y|a) - P(y)) - (h_a(y) - P(y))^2]`, since the terms in
    `P(y)` add up to 1. Labels without held-out records are left out. `docs/model.md` proves its value for a rule
    learned from the same records.

    Args:
        rule: (rows, labels) `h`, the predicted shares of the labels.
        holdout: (rows, labels) the held-out records with each row's attributes and each label, at least one.
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
