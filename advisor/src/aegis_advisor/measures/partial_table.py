"""A table with known margins and views: the limits that these imply for its rows and for the groups of its views.

Measures of such a table are monotone functions of a score, which is a sum over its rows with counts `F` and sums `f`.
The limits here bound such scores.

Before them, the building blocks of measures: the margins of a table, its entropies, and its degrees of freedom.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import scipy

from aegis_advisor.arrays import FloatArray, IntArray, fold
from aegis_advisor.atoms import AtomStatistics, common_refinement, per_atom
from aegis_advisor.evidence import AttributeEvidence

ROUNDS = 2
"""Rounds of propagating cell limits between margins; more rounds tighten them little."""


@dataclass(frozen=True, eq=False)
class RowLimits:
    """The unknown rows of the values with records (variant I), one for each kind, the largest first.

    Values are of the same kind if they share every group and have the same number of records. Their limits are the
    same.

    Attributes:
        kind_of: (kinds,) one value of each kind.
        values: (kinds,) the number of values of this kind.
        records: (kinds,) the number of records of each such value.
        lower: (kinds, labels) a lower bound of the cell in every table that fits.
        upper: (kinds, labels) an upper bound of the cell.
    """

    kind_of: IntArray
    values: FloatArray
    records: FloatArray
    lower: FloatArray
    upper: FloatArray

    @classmethod
    def of(cls, evidence: AttributeEvidence, histogram: IntArray) -> Self:
        """Derive the limits from the views and the histogram (values,), in a few rounds of the shuttle algorithm.

        A cell has at most what its margin leaves if all other cells have their least, and vice versa
        (Buzzigoli & Giusti 1999, "An algorithm to calculate the lower and upper bounds of the elements of an
        array given its marginals").
        """
        _, size = np.unique(histogram, return_inverse=True)
        views = constraining_views(evidence)
        mappings = [mapping for mapping, _ in views]
        kind_of_value = common_refinement((*mappings, size.astype(np.int64)), evidence.values)
        kinds = int(kind_of_value.max(initial=-1)) + 1
        values = np.bincount(kind_of_value, minlength=kinds).astype(np.float64)
        member = per_atom(np.arange(evidence.values), kind_of_value, kinds)
        order = np.argsort(-histogram[member], kind="stable")
        order = order[histogram[member[order]] > 0]
        member, values = member[order], values[order]
        records = histogram[member].astype(np.float64)
        upper = np.repeat(records[:, np.newaxis], evidence.labels, axis=1)
        rows = cls(member, values, records, np.zeros_like(upper), upper)
        for _ in range(ROUNDS):
            rows._tighten(views)
        return rows

    @property
    def possible(self) -> bool:
        """Whether the limits allow a row for each value; otherwise no table fits."""
        within = bool(np.all(self.lower <= self.upper))
        sums = self.lower.sum(axis=1), self.upper.sum(axis=1)
        return within and bool(np.all((sums[0] <= self.records) & (self.records <= sums[1])))

    def _tighten(self, views: Sequence[tuple[IntArray, FloatArray]]) -> None:
        for mapping, counts in views:
            group_of, many = mapping[self.kind_of], self.values[:, np.newaxis]
            sums = fold(many * np.hstack([self.lower, self.upper]), group_of, counts.shape[0])
            most, least = (counts - half for half in np.hsplit(sums, 2))
            self._limit(least[group_of] + self.upper, most[group_of] + self.lower)
        records = self.records[:, np.newaxis]
        most = records - self.lower.sum(axis=1, keepdims=True)
        least = records - self.upper.sum(axis=1, keepdims=True)
        self._limit(least + self.upper, most + self.lower)

    def _limit(self, lower: FloatArray, upper: FloatArray) -> None:
        np.maximum(self.lower, lower, out=self.lower)
        np.minimum(self.upper, upper, out=self.upper)

    @cached_property
    def majorant(self) -> FloatArray:
        """(kinds, labels) in descending order: a row that is at least as uneven as any within the limits.

        The sum of its `k` largest counts is the most that the `k` largest counts of such a row can add up to, given
        their upper limits and the lower limits of the others. So it majorises every such row (Marshall, Olkin & Arnold
        2011, "Inequalities: theory of majorization and its applications", 1.A).
        """
        most = np.cumsum(-np.sort(-self.upper, axis=1), axis=1)
        least = np.cumsum(np.sort(self.lower, axis=1), axis=1)
        others = np.concatenate([least[:, -2::-1], np.zeros((least.shape[0], 1))], axis=1)
        sums = np.minimum(most, self.records[:, np.newaxis] - others)
        return np.diff(sums, axis=1, prepend=0.0)


@dataclass(frozen=True, eq=False)
class GroupLimits:
    """The groups of a view: their known counts, and the limits of their values.

    Attributes:
        counts: (groups, labels).
        values: (groups,) the number of values that can have records.
        largest: (groups, labels) the largest counts of single values, in descending order; None in variant II.
    """

    counts: FloatArray
    values: IntArray
    largest: FloatArray | None

    @classmethod
    def of(cls, mapping: IntArray, counts: FloatArray, rows: RowLimits | None) -> Self:
        """Return the limits of the groups of a mapping (values,); `rows` are given in variant I."""
        groups, labels = counts.shape
        if rows is None:
            return cls(counts, np.bincount(mapping, minlength=groups).astype(np.int64), None)
        kind_group = mapping[rows.kind_of]
        values = np.bincount(kind_group, rows.values, minlength=groups).astype(np.int64)
        several = np.minimum(rows.values, labels).astype(np.int64)
        group_of, records = np.repeat(kind_group, several), np.repeat(rows.records, several)
        order = np.argsort(group_of.astype(np.min_scalar_type(groups)), kind="stable")
        group_of, records = group_of[order], records[order]
        rank = np.arange(order.size) - np.searchsorted(group_of, group_of)
        largest = np.zeros((groups, labels))
        kept = rank < labels
        largest[group_of[kept], rank[kept]] = records[kept]
        return cls(counts, values, largest)

    @cached_property
    def majorant(self) -> FloatArray | None:
        """(groups, labels) the largest cells of a table at least as uneven as any with the margins of a group.

        `k` cells have at most the sum of the `k` largest rows, and of the `k` largest columns (Cicalese, Gargano &
        Vaccaro 2019, "Minimum-entropy couplings and their applications", theorem 2). The smaller cells of that table
        are the rows after the `labels` largest. None in variant II.
        """
        if self.largest is None:
            return None
        columns = np.cumsum(-np.sort(-self.counts, axis=1), axis=1)
        return np.diff(np.minimum(np.cumsum(self.largest, axis=1), columns), axis=1, prepend=0.0)

    @cached_property
    def merged(self) -> FloatArray:
        """(groups, labels) label counts, merged as evenly as possible into as many classes as there are values.

        The largest counts stay, the others are spread evenly. The result is majorised by every such merger (Cicalese,
        Gargano & Vaccaro 2018, "Maximum entropy interval aggregations"). If there are no more labels than values, all
        labels stay.
        """
        ordered = -np.sort(-self.counts, axis=1)
        left, classes = ordered.sum(axis=1), np.zeros_like(ordered)
        for place in range(ordered.shape[1]):
            places = self.values - place
            share = np.maximum(ordered[:, place], left / np.maximum(places, 1))
            classes[:, place] = np.where(places > 0, np.minimum(share, left), 0.0)
            left = left - classes[:, place]
        return classes


@dataclass(frozen=True, slots=True, eq=False)
class PartialTable:
    """The known margins of the unknown table.

    Attributes:
        label: (labels,) the label's histogram.
        rows: the rows of its values; None in variant II.
    """

    label: FloatArray
    rows: RowLimits | None

    @property
    def records(self) -> float:
        """The number of records."""
        return float(self.label.sum())

    @property
    def freedom(self) -> tuple[float, int]:
        """The numbers of values and of labels with records; infinitely many values in variant II."""
        values = np.inf if self.rows is None else float(self.rows.values.sum())
        return values, int(np.count_nonzero(self.label))


def constraining_views(evidence: AttributeEvidence) -> list[tuple[IntArray, FloatArray]]:
    """Mapping (values,) and counts (groups, labels) of every constraining view, the label's histogram first.

    The views that follow jointly (`KnownSums`) come last.
    """
    everything = np.zeros(evidence.values, dtype=np.int64), evidence.label_counts[np.newaxis, :].astype(np.float64)
    constraining = (
        (view.mapping, view.joint.astype(np.float64))
        for view in evidence.maskings
        if view.constrains and view.mapping is not None and view.joint is not None
    )
    refined = ((mapping, counts.astype(np.float64)) for mapping, counts in evidence.refined_views)
    return [everything, *constraining, *refined]


def logs(counts: FloatArray) -> FloatArray:
    """`sum x log2 x` along the last axis."""
    sums: FloatArray = np.sum(scipy.special.xlogy(counts, counts), axis=-1) / np.log(2)
    return sums


def squares(counts: FloatArray) -> FloatArray:
    """`sum x^2` along the last axis."""
    sums: FloatArray = np.sum(counts**2, axis=-1)
    return sums


def most_by_chords(rows: RowLimits, cell: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """An upper bound of `sum cell(F)`: each convex function is replaced by its chord between the limits.

    This makes the problem linear, so the cells with the steepest chords are filled first.
    """
    low, room = cell(rows.lower), rows.upper - rows.lower
    slope = np.divide(cell(rows.upper) - low, room, out=np.zeros_like(low), where=room > 0)
    order = np.argsort(-slope, axis=1, kind="stable")
    free = rows.records - rows.lower.sum(axis=1)
    filled = np.minimum(np.cumsum(np.take_along_axis(room, order, axis=1), axis=1), free[:, np.newaxis])
    taken = np.diff(filled, axis=1, prepend=0.0)
    most: FloatArray = low.sum(axis=1) + np.sum(taken * np.take_along_axis(slope, order, axis=1), axis=1)
    return most


def largest_sum(counts: FloatArray, many: IntArray) -> FloatArray:
    """(groups,) the sum of the `many` (groups,) largest counts of each row (groups, labels)."""
    ordered = -np.sort(-counts, axis=1)
    sums: FloatArray = np.sum(ordered * (np.arange(counts.shape[1]) < many[:, np.newaxis]), axis=1)
    return sums


def inverse(counts: FloatArray) -> FloatArray:
    """One over each count; 0 where the count is 0."""
    return np.divide(1.0, counts, out=np.zeros_like(counts), where=counts > 0)


def ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """The quotient of two arrays (broadcast); 0 where the denominator is 0."""
    shape = np.broadcast(numerator, denominator).shape
    quotient: FloatArray = np.divide(numerator, denominator, out=np.zeros(shape), where=denominator > 0)
    return quotient


def numbers_of(classes: int, numbers: FloatArray | None) -> FloatArray:
    """(classes,) the scores of the label's classes: 0, 1, 2, ... unless they are given."""
    return np.arange(classes, dtype=np.float64) if numbers is None else numbers


def independent(table: FloatArray) -> FloatArray:
    """The table (rows, labels) with the same margins in which rows and labels are independent."""
    total = max(float(table.sum()), np.finfo(np.float64).tiny)
    # In this order, a table with one row is reproduced to the last digit.
    expected: FloatArray = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True) / total
    return expected


def log_ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """log2(numerator / denominator) of tables of the same shape; 0 where the numerator is 0."""
    held = numerator > 0
    logs = np.zeros(numerator.shape)
    logs[held] = np.log2(numerator[held] / denominator[held])
    return logs


def entropy(counts: FloatArray) -> float:
    """The entropy of counts (n,) in bits; 0 without records."""
    total = float(counts.sum())
    return (
        max(0.0, float(-np.sum(scipy.special.xlogy(counts, counts / total)) / total / np.log(2))) if total > 0 else 0.0
    )


def entropy_gradient(counts: FloatArray) -> FloatArray:
    """The derivative (n,) of the entropy with respect to each count, in bits; `counts` must have records."""
    total = float(counts.sum())
    slopes: FloatArray = (-log_ratio(counts, np.full(counts.shape, total)) - entropy(counts)) / total
    return slopes


def value_entropy(table: FloatArray, atoms: AtomStatistics | None) -> float:
    """The entropy H(A) of the values in bits."""
    total = float(table.sum())
    if atoms is None or total <= 0:
        return entropy(table.sum(axis=1))
    return max(0.0, float((np.log(total) - atoms.logs.sum() / total) / np.log(2)))


def occupied(table: FloatArray, atoms: AtomStatistics | None) -> tuple[int, int]:
    """The numbers of values and of labels with records."""
    rows = table.sum(axis=1) > 0
    values = int(np.count_nonzero(rows)) if atoms is None else int(atoms.occupied[rows].sum())
    return values, int(np.count_nonzero(table.any(axis=0)))


def freedom(table: FloatArray, atoms: AtomStatistics | None) -> int:
    """The degrees of freedom `(R - 1)(C - 1)` of the values and labels with records; 0 for an empty table."""
    rows, columns = occupied(table, atoms)
    return max(rows - 1, 0) * max(columns - 1, 0)
