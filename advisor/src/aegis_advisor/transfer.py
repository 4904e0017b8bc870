"""Transfer utility: how well a rule learned from a release predicts the labels of held-out real records.

That of one attribute is from two tables of counts: the release's and that of held-out real records. Both tables are
(values, labels), with the same values in the same order: masked values if the release is masked. A value that the
release lacks is predicted by the release's labels alone. The held-out table must have records. That of all attributes
together is by the additive least-squares rule of a release's records.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Self

import numpy as np
import scipy

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.measures.partial_table import ratio

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


SMOOTHING = 2.0
"""Records added to each value, distributed like the label, before taking logarithms of shares.

`docs/model.md` compares strengths. Without any, a held-out record costs infinity if its value never had its label.
"""


def label_shares(release: FloatArray, smoothing: float = 0.0) -> FloatArray:
    """The rule of a release: the share of each label at each value, `h` (values, labels).

    `h_a(y) = (n(a, y) + s q(y)) / (n(a) + s)` with `q(y) = (n(y) + s / C) / (n + s)`, for `C` labels. So all shares are
    positive if `s` is. Without any records, all labels are equally likely.

    Args:
        release: (values, labels) the release's counts.
        smoothing: `s`.
    """
    records, classes = float(release.sum()), release.shape[1]
    even = np.full(classes, 1 / classes)
    known = records + smoothing
    label = (release.sum(axis=0) + smoothing * even) / known if known > 0 else even
    rows = release.sum(axis=1, keepdims=True) + smoothing
    shares = np.broadcast_to(label, release.shape).copy()
    np.divide(release + smoothing * label, rows, out=shares, where=rows > 0)
    return shares


def information_transfer(release: FloatArray, holdout: FloatArray, smoothing: float = SMOOTHING) -> Figure:
    """`sum P(a, y) log2(h_a(y) / P(y))` in bits: the saving in the code length of a label by the release's shares.

    At most the mutual information of the held-out records, by Gibbs' inequality (Cover & Thomas 2006, "Elements of
    information theory", theorem 2.6.3). It is negative if the rule is worse than their labels' shares alone.
    """
    records = float(holdout.sum())
    joint = holdout / records
    label, rule = joint.sum(axis=0), label_shares(release, smoothing)
    gained = np.zeros(joint.shape)
    with np.errstate(divide="ignore"):  # without smoothing, a share may be 0
        np.log2(rule / np.where(label > 0, label, 1.0), out=gained, where=joint > 0)
    value = float(np.sum(joint * gained))
    if not np.isfinite(value):
        return Figure(value, np.inf, -np.inf, value)
    return Figure.mean(value, gained - value, joint, records)


def chi_square_transfer(release: FloatArray, holdout: FloatArray) -> Figure:
    """Chi-square over the number of records, with the release's shares, which are not smoothed (`explained`).

    At most chi-square / N of the held-out records; negative if the rule is worse than none.
    """
    return explained(label_shares(release), holdout)


def g3_transfer(release: FloatArray, holdout: FloatArray) -> Figure:
    """The share of held-out records whose label is not the release's most frequent one at their value.

    The first of tied labels counts. It is at least the held-out records' own g3 (Kivinen & Mannila 1995).
    """
    records = float(holdout.sum())
    guess = label_shares(release).argmax(axis=1)
    right = float(holdout[np.arange(holdout.shape[0]), guess].sum()) / records
    return Figure.share(min(1.0, max(0.0, 1.0 - right)), records)


DEPENDENT = 1e-10
"""Directions with at most this part of the largest variance count as dependent, and are left out."""


@dataclass(frozen=True, slots=True, eq=False)
class AdditiveRule:
    """Predicts the share of each label as a sum of effects of the attributes' values.

    Attributes:
        label: (labels,) the shares of the labels in the release.
        effects: for each attribute (values, labels), the effects of its values; 0 for values that the release lacks.
    """

    label: FloatArray
    effects: tuple[FloatArray, ...]

    def predict(self, codes: IntArray) -> FloatArray:
        """The predicted shares (records, labels), which may lie outside 0 to 1, of records (records, attributes)."""
        shares = np.tile(self.label, (codes.shape[0], 1))
        for effect, column in zip(self.effects, codes.T, strict=True):
            shares += effect[column]
        return shares


def additive_rule(codes: IntArray, labels: IntArray, sizes: Sequence[int], classes: int) -> AdditiveRule:
    """The additive rule with the lowest squared error on a release's records; of several, the smallest.

    Each value's indicator is centred and divided by the root of the value's share. The smallest coefficients then add
    up to 0 over the records of each attribute, so a value that the release lacks, whose effect is 0, counts as average.

    Args:
        codes: (records, attributes) the place of each record's value, at least one record.
        labels: (records,) the place of its label.
        sizes: the number of values of each attribute.
        classes: the number of labels.
    """
    indicators, label = _indicators(codes, sizes), _indicators(labels[:, np.newaxis], [classes])
    records = codes.shape[0]
    shares, label_shares = indicators.sum(axis=0) / records, label.sum(axis=0) / records
    held = np.flatnonzero(shares)
    root = np.sqrt(shares[held])
    kept = indicators[:, held]
    own = (kept.T @ kept).toarray() / records - np.outer(shares[held], shares[held])
    with_label = (kept.T @ label).toarray() / records - np.outer(shares[held], label_shares)
    inverse = np.linalg.pinv(own / np.outer(root, root), rcond=DEPENDENT, hermitian=True)
    effects = np.zeros((shares.size, classes))
    effects[held] = (inverse @ (with_label / root[:, np.newaxis])) / root[:, np.newaxis]
    return AdditiveRule(label_shares, tuple(np.split(effects, np.cumsum(sizes)[:-1])))


def joint_transfer(rule: AdditiveRule, codes: IntArray, labels: IntArray) -> Figure:
    """The share of the label that the release's additive rule explains in held-out records (`explained`).

    Args:
        codes: (records, attributes) of the held-out records, at least one.
        labels: (records,) the places of their labels.
    """
    holdout = np.zeros((labels.size, rule.label.size))
    holdout[np.arange(labels.size), labels] = 1.0
    return explained(rule.predict(codes), holdout)


def _indicators(codes: IntArray, sizes: Sequence[int]) -> "scipy.sparse.csr_array":
    """The sparse indicators (records, values of all attributes) of codes (records, attributes)."""
    records, attributes = codes.shape
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.int64)
    places = (codes + starts).ravel()
    ends = np.arange(records + 1) * attributes
    return scipy.sparse.csr_array((np.ones(places.size), places, ends), shape=(records, int(sum(sizes))))
