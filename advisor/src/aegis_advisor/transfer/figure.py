"""A transfer utility with its standard error, and the figure of rules that predict shares of the labels."""

from dataclasses import dataclass

import numpy as np

from aegis_advisor.arrays import FloatArray
from aegis_advisor.measures.margins import ratio

CONFIDENCE = 1.96
"""95 % of a normal distribution lie within so many standard deviations."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A transfer utility.

    Its interval holds the figure of the same rule on endless records 94 % of the time if 20 of the records that it was
    evaluated on have the rarest label, and 90 % of the time if 6 have.

    Attributes:
        value: the utility, in the unit of its measure.
        standard_error: how much it varies because the records that it was evaluated on are a sample. The rule is taken
            as given.
    """

    value: float
    standard_error: float

    @property
    def low(self) -> float:
        """The lower limit of the 95 % interval."""
        return self.value - CONFIDENCE * self.standard_error

    @property
    def high(self) -> float:
        """The upper limit of the 95 % interval."""
        return self.value + CONFIDENCE * self.standard_error


def spread(influence: FloatArray, weights: FloatArray, records: float) -> float:
    """The standard error of a mean over records, by the influence of each cell of a table.

    Args:
        influence: how much a record of each cell moves the mean, times the number of records; 0 on average.
        weights: the share of the records in each cell, of the same shape.
        records: the number of records.
    """
    return float(np.sqrt(np.sum(weights * influence**2) / records))


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
    return Figure(value, spread(influence, joint, records))
