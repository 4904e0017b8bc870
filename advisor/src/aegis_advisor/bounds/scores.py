"""Scores of an unknown table, as far as its margins and views limit them.

A score is a sum over the rows of a table, `F` their counts with sums `f`. Functions `..._by_row` give the most that
each kind of row (kinds,) can have of it, `..._by_group` the most that all rows of a group (groups,) have together.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.bounds.caps import Groups, Rows


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """The margins of the unknown table, as far as they are known.

    Attributes:
        label: (labels,) the label's histogram.
        rows: the rows of its values; None in variant II.
    """

    label: FloatArray
    rows: Rows | None

    @property
    def records(self) -> float:
        """The number of records."""
        return float(self.label.sum())

    @property
    def freedom(self) -> tuple[float, int]:
        """How many values and labels have records."""
        values = np.inf if self.rows is None else float(self.rows.values.sum())
        return values, int(np.count_nonzero(self.label))


def logs(counts: FloatArray) -> FloatArray:
    """`sum x log2 x` along the last axis."""
    found: FloatArray = np.sum(xlogy(counts, counts), axis=-1) / np.log(2)
    return found


def squares(counts: FloatArray) -> FloatArray:
    """`sum x^2` along the last axis."""
    found: FloatArray = np.sum(counts**2, axis=-1)
    return found


def certainty_by_row(rows: Rows, known: Known) -> FloatArray:  # noqa: ARG001 - all are called alike
    """`sum F log2 F - f log2 f`, which is convex: greatest at the majorant."""
    return logs(rows.majorant()) - logs(rows.records[:, np.newaxis])


def certainty_by_group(groups: Groups, known: Known) -> FloatArray:  # noqa: ARG001 - all are called alike
    """Values tell no more of the label than if it was merged into as many classes; nor than a coupling can."""
    most = logs(groups.counts) - logs(groups.merged())
    coupled = groups.majorant()
    if coupled is not None and groups.largest is not None:
        most = np.minimum(most, logs(coupled) - logs(groups.largest))
    return np.minimum(most, 0.0)


def agreement_by_row(rows: Rows, known: Known) -> FloatArray:  # noqa: ARG001 - all are called alike
    """`sum F^2 - f^2`: minus the ordered pairs of records that differ."""
    return squares(rows.majorant()) - rows.records**2


def agreement_by_group(groups: Groups, known: Known) -> FloatArray:  # noqa: ARG001 - all are called alike
    """No more than the squares of the most uneven coupling of its rows and labels."""
    coupled = groups.majorant()
    if coupled is None or groups.largest is None:
        return np.zeros(groups.values.size)
    return np.minimum(squares(coupled) - squares(groups.largest), 0.0)


def modes_by_row(rows: Rows, known: Known) -> FloatArray:  # noqa: ARG001 - all are called alike
    """The largest count."""
    return rows.majorant()[:, 0]


def modes_by_group(groups: Groups, known: Known) -> FloatArray:  # noqa: ARG001 - all are called alike
    """That many values have largest counts in that many columns at most."""
    return _largest_of(groups.counts, groups.values)


def gini_by_row(rows: Rows, known: Known) -> FloatArray:  # noqa: ARG001 - all are called alike
    """`sum F^2 / f`. In a group it is no more than the largest counts."""
    return squares(rows.majorant()) / rows.records


def pure_by_row(rows: Rows, known: Known) -> FloatArray:  # noqa: ARG001 - all are called alike
    """The records, if they can be of one label."""
    return np.where(rows.majorant()[:, 0] >= rows.records, rows.records, 0.0)


def pure_by_group(groups: Groups, known: Known) -> FloatArray:  # noqa: ARG001 - all are called alike
    """Where labels outnumber values, some value is mixed, and each other one has one label."""
    outnumbered = groups.values < np.count_nonzero(groups.counts, axis=1)
    return _largest_of(groups.counts, groups.values - outnumbered)


def contingency_by_row(rows: Rows, known: Known) -> FloatArray:
    """`sum F^2 / (f c)` where c are the label's counts."""

    def cell(counts: FloatArray) -> FloatArray:
        found: FloatArray = counts**2 * _inverse(known.label) / rows.records[:, np.newaxis]
        return found

    return _chords(rows, cell)


def contingency_by_group(groups: Groups, known: Known) -> FloatArray:
    """`sum_a F^2 / f = F_g s` with s at most 1 for each label, and at most the number of values for all."""
    return _largest_of(groups.counts * _inverse(known.label), groups.values)


def divergence_by_row(rows: Rows, known: Known) -> FloatArray:
    """`(KL(F || M) + KL(E || M)) / 2` where `E = f c / N` is expected and M is the mean of both."""
    return _chords(rows, lambda counts: _halves(counts, rows.records[:, np.newaxis] * known.label / known.records))


def divergence_by_group(groups: Groups, known: Known) -> FloatArray:
    """Every record in a row of its own label's alone: convexity allows no more."""
    share = known.label / known.records
    alone = _halves(np.eye(share.size), share).sum(axis=1)
    most: FloatArray = groups.counts @ alone
    return most


def _halves(counts: FloatArray, expected: FloatArray) -> FloatArray:
    middle = (counts + expected) / 2
    held = np.where(middle > 0, middle, 1.0)
    both: FloatArray = (xlogy(counts, counts / held) + xlogy(expected, expected / held)) / (2 * np.log(2))
    return both


def _chords(rows: Rows, cell: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """The most that `sum cell(F)` can be, each convex function replaced by its chord between the limits.

    What remains is linear: the cells of the steepest chords are filled first.
    """
    low, room = cell(rows.lower), rows.upper - rows.lower
    slope = np.divide(cell(rows.upper) - low, room, out=np.zeros_like(low), where=room > 0)
    order = np.argsort(-slope, axis=1, kind="stable")
    free = rows.records - rows.lower.sum(axis=1)
    filled = np.minimum(np.cumsum(np.take_along_axis(room, order, axis=1), axis=1), free[:, np.newaxis])
    taken = np.diff(filled, axis=1, prepend=0.0)
    most: FloatArray = low.sum(axis=1) + np.sum(taken * np.take_along_axis(slope, order, axis=1), axis=1)
    return most


def _largest_of(counts: FloatArray, many: IntArray) -> FloatArray:
    """(groups,) the sum of the `many` (groups,) largest of each row of counts (groups, labels)."""
    ordered = -np.sort(-counts, axis=1)
    found: FloatArray = np.sum(ordered * (np.arange(counts.shape[1]) < many[:, np.newaxis]), axis=1)
    return found


def _inverse(counts: FloatArray) -> FloatArray:
    return np.divide(1.0, counts, out=np.zeros_like(counts), where=counts > 0)
