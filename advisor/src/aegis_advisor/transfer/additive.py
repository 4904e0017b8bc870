"""Transfer utility of all attributes together, by the additive least-squares rule of a release's records."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.transfer.figure import Figure, explained

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
        rule: the rule.
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
