"""The interval of what a model should reach beyond the table: its records are a sample, and small ones say little."""

from dataclasses import replace
from typing import Final

import numpy as np

from aegis_advisor.expected.performance import Expected

WIDTH: Final = 1.645
"""90 % of a normal distribution lie within so many standard deviations."""


def beyond_table(expected: Expected, records: int, classes: int) -> Expected:
    """Widen the interval by the sampling error of the records: that of a table compared with others.

    The interval of `Expected` is for the same records, so it is as wide for 200 of them as for 20,000. The error of an
    AUC is that of [@hanley1982], equation 1, of `R^2` that of [@olkin1995]. Both follow from the number, the records
    and the classes alone, so they say nothing else about the counts: classes are taken as equally frequent.

    Args:
        records: the number of records of the table.
        classes: the number of classes of the label.
    """
    number = expected.auc if expected.r2 is None else expected.r2
    if number is None:
        return expected
    error = WIDTH * (_error_of_auc(number, records, classes) if expected.r2 is None else _error_of_r2(number, records))
    low = number - float(np.hypot(number - expected.low, error))
    high = number + float(np.hypot(expected.high - number, error))
    return replace(expected, low=max(low, 0.0), high=min(high, 1.0))


def _error_of_auc(auc: float, records: int, classes: int) -> float:
    """The standard error of an AUC with one of so many classes as the positives; of several, that of their mean."""
    positives = max(records / classes, 1.0)
    negatives = max(records - positives, 1.0)
    both_positives, both_negatives = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    moved = (positives - 1) * (both_positives - auc**2) + (negatives - 1) * (both_negatives - auc**2)
    error = np.sqrt(max(auc * (1 - auc) + moved, 0.0) / (positives * negatives))
    return float(error / np.sqrt(classes if classes > 2 else 1))  # noqa: PLR2004 -- of two classes, both are the same


def _error_of_r2(r2: float, records: int) -> float:
    """The standard error of `R^2` in large samples."""
    return float(2 * np.sqrt(max(r2, 0.0)) * (1 - r2) / np.sqrt(records))
