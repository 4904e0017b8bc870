"""The bias of a measure: how much chance adds to it in a sample, estimated from the sample itself.

In a sample, a fine masking seems more informative about the label than it is, and than an equally informative coarse
masking. Each row of a table adds its own part, which depends on its number of records and on their spread over the
labels. The jackknife estimates it: a row with one record less shows how the score changes with the size of a sample
(Miller 1974, "The jackknife: a review"). A row with few records is too small even for that, and counts as
uninformative: its score beyond independence is all chance.

Tables are (rows, labels) counts, which may be fractions. All estimates are in the unit of the measure.
"""

from collections.abc import Callable

import numpy as np
import scipy

from aegis_advisor.arrays import FloatArray
from aegis_advisor.measures.partial_table import ratio

RowScores = Callable[..., FloatArray]
"""From counts (rows, labels) and the shares (labels,) of the labels to one number per row (rows,). Some also take the
scores of the label's classes, `numbers` (labels,)."""

FEWEST_PER_LABEL = 1.5
"""A row with at most this many records for each label but one, or with a single record, counts as uninformative."""

LARGE = 10_000.0
"""In rows with more records, differences of scores lose too many digits; the second derivative is as accurate there."""

TINY = 1e-200
"""Replaces a count of 0 where its logarithm does not matter."""

TIES = 1.7
"""The exponent of the norm over several labels that may be the most frequent (see `largest_bias`)."""


def scores_bias(table: FloatArray, scores: RowScores, jackknife: RowScores, fewest: float = FEWEST_PER_LABEL) -> float:
    """The bias of a sum of scores over the rows, less that of the table with a single row.

    Args:
        table: (rows, labels).
        jackknife: the jackknife estimate of the bias of each row's score.
        fewest: a row with at most this many records for each label but one, or with a single record, is uninformative.
    """
    label = table.sum(axis=0)
    total = float(label.sum())
    held = label > 0
    if total <= 0 or np.count_nonzero(held) <= 1:
        return 0.0
    shares = label[held] / total
    rows = table[table.sum(axis=1) > 0][:, held]
    bias = jackknife(rows, shares)
    size = rows.sum(axis=1)
    few = size <= max(1.0, fewest * (shares.size - 1))
    bias[few] = scores(rows[few], shares) - scores(size[few, np.newaxis] * shares, shares)
    return float(bias.sum() - jackknife(label[held][np.newaxis, :], shares)[0])


def certainty_scores(rows: FloatArray, shares: FloatArray) -> FloatArray:
    """`sum F ln(F / n)` of each row with n records: minus n times the entropy, in nats."""
    shares = np.maximum(rows, TINY) / rows.sum(axis=1, keepdims=True)  # faster than `xlogy`
    scores: FloatArray = (rows * np.log(shares)).sum(axis=1)
    return scores


def certainty_jackknife(rows: FloatArray, shares: FloatArray) -> FloatArray:
    """`j(n) - sum j(F)`, `j(x) = x (x - 1) ln(x / (x - 1))`; for large counts half the labels, less a half."""
    bias: FloatArray = _left_out(rows.sum(axis=1)) - _left_out(rows).sum(axis=1)
    return bias


def _left_out(counts: FloatArray) -> FloatArray:
    several = np.maximum(counts, 1.0)
    left: FloatArray = -scipy.special.xlog1py(several * (several - 1), -1 / several)
    return np.where(counts > 1, left, 0.0)


def contingency_scores(rows: FloatArray, shares: FloatArray) -> FloatArray:
    """`sum F^2 / (n p)` of each row: chi-square, apart from a constant."""
    scores: FloatArray = (rows**2 / shares).sum(axis=1) / rows.sum(axis=1)
    return scores


def contingency_jackknife(rows: FloatArray, shares: FloatArray) -> FloatArray:
    """`n / (n - 1) sum q (1 - q) / p` of each row with distribution q, which is unbiased."""
    return _variances(rows, 1 / shares)


def gini_scores(rows: FloatArray, shares: FloatArray) -> FloatArray:
    """`sum F^2 / n` of each row."""
    scores: FloatArray = (rows**2).sum(axis=1) / rows.sum(axis=1)
    return scores


def gini_jackknife(rows: FloatArray, shares: FloatArray) -> FloatArray:
    """`n / (n - 1) sum q (1 - q)` of each row with distribution q, which is unbiased."""
    return _variances(rows, np.ones(shares.size))


def _variances(rows: FloatArray, weights: FloatArray) -> FloatArray:
    size = rows.sum(axis=1)
    spread = (rows * (size[:, np.newaxis] - rows)) @ weights
    return ratio(spread, size * np.maximum(size - 1, 0.0))


def divergence_scores(rows: FloatArray, shares: FloatArray) -> FloatArray:
    """`sum F ln(F / M) + E ln(E / M)` of each row, `E = n p`, `M = (F + E) / 2`, in nats."""
    expected = rows.sum(axis=1, keepdims=True) * shares
    scores: FloatArray = (expected * _divergence(rows / expected)).sum(axis=1)
    return scores


def divergence_jackknife(rows: FloatArray, shares: FloatArray) -> FloatArray:
    """The jackknife of each cell; for large rows half the second derivative times the variance of the count."""
    size = np.maximum(rows.sum(axis=1, keepdims=True), 2.0)
    expected = size * shares
    density: FloatArray = rows / expected
    growth = size / (size - 1)
    here, same = _divergence(density), _divergence(density * growth)
    less = _divergence(np.maximum(rows - 1, 0.0) / expected * growth)
    cells = (size - 1) * shares * ((size - rows) * (same - here) + rows * (less - here))
    smooth = np.where(rows > 0, (1 - rows / size) / (1 + density) / 2, 0.0)
    return np.asarray(np.where(size > LARGE, smooth, cells).sum(axis=1), dtype=np.float64)


def _divergence(density: FloatArray) -> FloatArray:
    """`u ln u - (1 + u) ln((1 + u) / 2)` of a count over its expectation."""
    return np.asarray(scipy.special.xlogy(density, density) - scipy.special.xlogy(1 + density, (1 + density) / 2))


def largest_bias(table: FloatArray) -> float:
    """How much chance adds to the sum of the largest counts of the rows, in records.

    Where two labels are about as frequent, the larger count in a sample is so partly by chance. If half of a row's
    records choose the label and the others count it, chance adds nothing. On average over all halves, with a Gaussian
    difference d of the two counts and its standard deviation s, counting in the same records instead adds
    `s phi(d / s) + |d| Phi(-|d| / s)`. This is right for tied labels; otherwise it is an overestimate, since half of
    the records err more often. Further labels enter by the norm with the exponent `TIES`, which is within a tenth of
    the gain of two to five tied labels.
    """
    if table.shape[1] <= 1:
        return 0.0
    ordered = np.sort(table, axis=1)[:, ::-1]
    first, others = ordered[:, :1], ordered[:, 1:]
    spread = np.sqrt(first + others)
    distance = ratio(first - others, spread)
    normal = np.exp(-(distance**2) / 2) / np.sqrt(2 * np.pi)
    each: FloatArray = spread * (normal + distance * scipy.special.ndtr(-distance))
    return float(np.sum(np.sum(each**TIES, axis=1) ** (1 / TIES)))
