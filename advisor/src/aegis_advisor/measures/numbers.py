"""Measures of a label whose classes have scores: the bins of a number, or ordered classes.

`numbers` (labels,) are the scores of the classes, by default 0, 1, 2, ... in the label's order. Tables, `atoms` and
gradients are as in `information`. All measures are the same for `a + b numbers`, and 0 where the scores do not vary.
"""

from functools import partial

import numpy as np

from aegis_advisor.arrays import FloatArray
from aegis_advisor.atoms import AtomStatistics
from aegis_advisor.measures.association import trace_bias
from aegis_advisor.measures.bias import FEWEST_PER_LABEL, scores_bias
from aegis_advisor.measures.partial_table import (
    GroupLimits,
    PartialTable,
    RowLimits,
    independent,
    numbers_of,
    occupied,
    ratio,
)


def standardised(counts: FloatArray, numbers: FloatArray | None = None) -> FloatArray:
    """(labels,) the scores with mean 0 and variance 1 over the records; all 0 if they do not vary.

    Args:
        counts: (labels,) the records of each class, or their shares.
    """
    held = counts > 0
    known = np.where(held, numbers_of(counts.size, numbers), 0.0)
    if not held.any() or np.ptp(known[held]) == 0:
        return np.zeros(counts.size)
    known = np.where(held, known / np.abs(known).max(), 0.0)  # squares of large numbers would overflow
    centred = np.where(held, known - np.average(known, weights=counts), 0.0)
    deviation = np.sqrt(np.average(np.square(centred), weights=counts))
    return np.asarray(centred / deviation) if deviation > 0 else np.zeros(counts.size)


def correlation_ratio(
    table: FloatArray, atoms: AtomStatistics | None = None, *, numbers: FloatArray | None = None
) -> float:
    """`eta^2`, the share of the label's variance that lies between the values: `sum f (mean - mean_a)^2 / (N var)`.

    Pearson 1905, "On the general theory of skew correlation and non-linear regression". Atoms change nothing.
    """
    score = standardised(table.sum(axis=0), numbers)
    # The difference is 0 to the last digit for a table with one row.
    between = np.square((table - independent(table)) @ score)
    return min(1.0, float(ratio(between, table.sum(axis=1)).sum() / max(float(table.sum()), 1.0)))


def correlation_ratio_gradient(
    table: FloatArray, atoms: AtomStatistics | None = None, *, numbers: FloatArray | None = None
) -> FloatArray:
    """The gradient `(2 m z - m^2 - eta^2 z^2) / N`, with the standardised scores z and their mean m in each row."""
    score = standardised(table.sum(axis=0), numbers)
    mean = ratio(table @ score, table.sum(axis=1))[:, np.newaxis]
    moved = 2 * mean * score - mean**2 - correlation_ratio(table, numbers=numbers) * score**2
    return np.asarray(moved / table.sum())


def correlation_ratio_scale(
    table: FloatArray, atoms: AtomStatistics | None = None, *, numbers: FloatArray | None = None
) -> float:
    """Near independence `N eta^2` is a chi-square variable with one degree of freedom for each of the rows but one.

    Its variance is that of a chi-square variable with the table's degrees of freedom times the square of this scale.
    """
    classes = occupied(table, atoms)[1]
    varies = standardised(table.sum(axis=0), numbers).any()
    return float(1 / (table.sum() * np.sqrt(classes - 1))) if varies else 0.0


def correlation_ratio_bias(
    table: FloatArray, atoms: AtomStatistics | None = None, *, numbers: FloatArray | None = None
) -> float:
    """How much a sample exceeds its population on average (`measures.bias`); a row of one record is uninformative."""
    held = table.any(axis=0)
    classes = int(np.count_nonzero(held))
    if classes <= 1:
        return 0.0
    known = numbers_of(held.size, numbers)[held]
    scores, jackknife = (partial(each, numbers=known) for each in (number_scores, number_jackknife))
    return scores_bias(table, scores, jackknife, FEWEST_PER_LABEL / (classes - 1)) / float(table.sum())


def correlation_ratio_adjustment(
    table: FloatArray, atoms: AtomStatistics | None = None, *, numbers: FloatArray | None = None
) -> float:
    """The adjustment for the number of values (`trace_bias`), which yields the epsilon-squared of Kelley 1935."""
    rows = occupied(table, atoms)[0]
    return trace_bias(correlation_ratio(table, numbers=numbers), rows - 1, 1, float(table.sum()))


def correlation_ratio_rate(
    table: FloatArray, atoms: AtomStatistics | None = None, *, numbers: FloatArray | None = None
) -> float:
    """The derivative with respect to the sum of `number_scores`."""
    return 1 / float(table.sum())


def number_scores(rows: FloatArray, shares: FloatArray, *, numbers: FloatArray) -> FloatArray:
    """`(F z)^2 / n` of each row with n records, with the standardised scores z."""
    scores: FloatArray = np.square(rows @ standardised(shares, numbers)) / rows.sum(axis=1)
    return scores


def number_jackknife(rows: FloatArray, shares: FloatArray, *, numbers: FloatArray) -> FloatArray:
    """`(F z^2 - (F z)^2 / n) / (n - 1)`, the variance of the scores in each row, which is unbiased."""
    score, size = standardised(shares, numbers), rows.sum(axis=1)
    within = rows @ score**2 - ratio(np.square(rows @ score), size)
    return ratio(within, np.maximum(size - 1, 0.0))


def number_by_row(rows: RowLimits, known: PartialTable, *, numbers: FloatArray | None = None) -> FloatArray:
    """`(F z)^2 / f`, convex, so the largest where `F z` is largest or smallest within the limits of the cells."""
    score = standardised(known.label, numbers)
    most, least = _largest(rows, score), -_largest(rows, -score)
    return np.maximum(np.square(most), np.square(least)) / rows.records


def _largest(rows: RowLimits, score: FloatArray) -> FloatArray:
    """(kinds,) the largest `F z`: cells with the highest scores are filled first."""
    order = np.argsort(-score, kind="stable")
    room = (rows.upper - rows.lower)[:, order]
    free = (rows.records - rows.lower.sum(axis=1))[:, np.newaxis]
    taken = np.diff(np.minimum(np.cumsum(room, axis=1), free), axis=1, prepend=0.0)
    return np.asarray(rows.lower @ score + taken @ score[order])


def number_by_group(groups: GroupLimits, known: PartialTable, *, numbers: FloatArray | None = None) -> FloatArray:
    """`sum (F z)^2 / f` over the values of a group is at most `F_g z^2`; one value has `(F_g z)^2 / f_g`."""
    score = standardised(known.label, numbers)
    alone = ratio(np.square(groups.counts @ score), groups.counts.sum(axis=1))
    return np.where(groups.values <= 1, alone, groups.counts @ score**2)


def correlation_ratio_at(score: float, known: PartialTable, *, numbers: FloatArray | None = None) -> float:
    """The correlation ratio at a sum of scores."""
    return min(1.0, max(0.0, score / known.records)) if known.records > 0 else 0.0
