"""The counts of many walks, what the attributes would tell if these were the counts, and moves between them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aegis_advisor.arrays import BoolArray, FloatArray, IntArray
from research.leakage.expectations import expectations
from research.leakage.target import HiddenAttribute, Target
from research.leakage.utilities import HIGHER_IS_BETTER, utilities

_SWEEPS = 10
_HIGHER = np.array(list(HIGHER_IS_BETTER.values()))[:, np.newaxis, np.newaxis]


@dataclass(frozen=True, eq=False)
class Tables:
    """The counts of many walks. All attributes of a walk have the same label histogram.

    Attributes:
        counts: per attribute (walks, groups, labels).
        histograms: per attribute (walks, values).
    """

    counts: Sequence[IntArray]
    histograms: Sequence[IntArray]

    @classmethod
    def true(cls, target: Target, walks: int) -> "Tables":
        """So many copies of the truth."""
        counts = [np.repeat(one.counts[np.newaxis], walks, axis=0) for one in target.attributes]
        return cls(counts, [np.repeat(one.histogram[np.newaxis], walks, axis=0) for one in target.attributes])

    def chosen(self, other: "Tables", where: BoolArray) -> "Tables":
        """These counts, but those of another state for the walks in `where` (walks,)."""
        counts = zip(self.counts, other.counts, strict=True)
        histograms = zip(self.histograms, other.histograms, strict=True)
        return Tables(
            [np.where(where[:, np.newaxis, np.newaxis], theirs, mine) for mine, theirs in counts],
            [np.where(where[:, np.newaxis], theirs, mine) for mine, theirs in histograms],
        )

    def published(self, target: Target) -> IntArray:
        """(walks, cells) every count of the entry: the label histogram, the histograms and the masked joint counts."""
        parts = [self.labels(), *self.histograms]
        for attribute, counts in zip(target.attributes, self.counts, strict=True):
            parts += [(sums @ counts).reshape(len(counts), -1) for sums in attribute.maskings.values()]
        return np.hstack(parts)

    def labels(self) -> IntArray:
        """(walks, labels) the label histogram."""
        return np.asarray(self.counts[0].sum(axis=1))


def deviations(attribute: HiddenAttribute, counts: IntArray, histogram: IntArray) -> FloatArray:
    """(measures, 1 + maskings, walks) what dropping an attribute and what each masking would lose."""
    table = counts.astype(np.float64)
    views = [table.sum(axis=1, keepdims=True), *(parts @ table for parts in attribute.maskings.values())]
    whole = _by_value(attribute, _reference(attribute, table, views[1:]), histogram)
    stacked = np.zeros((1 + len(views), *whole.shape))
    for place, view in enumerate([whole, *views]):
        stacked[place, :, : view.shape[1]] = view
    seen = np.stack(list(utilities(stacked).values()))
    best = np.where(_HIGHER, seen.max(axis=1, keepdims=True), seen.min(axis=1, keepdims=True))
    return np.asarray(np.abs(best - seen[:, 1:]))


def expected_of(attribute: HiddenAttribute, counts: IntArray) -> FloatArray:
    """(2, 1 + maskings, walks) the AUC and the accuracy expected without the attribute and with each masking of it."""
    table = counts.astype(np.float64)
    views = [table.sum(axis=1, keepdims=True), *(parts @ table for parts in attribute.maskings.values())]
    stacked = np.zeros((len(views), *table.shape))
    for place, view in enumerate(views):
        stacked[place, :, : view.shape[1]] = view
    return expectations(stacked)


def _reference(attribute: HiddenAttribute, table: FloatArray, views: Sequence[FloatArray]) -> FloatArray:
    """The groups' reconstruction (walks, groups, labels) by the service: of largest entropy, given all views.

    It is the table itself where a masking shows all groups, else a few rounds of iterative proportional fitting.
    """
    if attribute.has_finest:
        return table
    rows, labels = table.sum(axis=2, keepdims=True), table.sum(axis=1, keepdims=True)
    fitted = rows * labels / rows.sum(axis=1, keepdims=True)
    for _ in range(_SWEEPS):
        for parts, view in zip(attribute.maskings.values(), views, strict=True):
            fitted = fitted * (parts.T @ _over(view, parts @ fitted))
        fitted = fitted * _over(rows, fitted.sum(axis=2, keepdims=True))
    return np.asarray(fitted)


def _by_value(attribute: HiddenAttribute, table: FloatArray, histogram: IntArray) -> FloatArray:
    """(walks, values, labels): each value has the distribution over the labels of its group."""
    by_value = table[:, attribute.group_of_value]
    return np.asarray(by_value * _over(histogram[..., np.newaxis], by_value.sum(axis=2, keepdims=True)))


def _over(value: FloatArray | IntArray, divisor: FloatArray) -> FloatArray:
    """`value / divisor`, and 0 where the divisor is 0."""
    out = np.zeros(np.broadcast_shapes(value.shape, divisor.shape))
    return np.asarray(np.divide(value, divisor, out=out, where=divisor > 0))
