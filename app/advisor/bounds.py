"""The other side of the bound: how much utility an attribute can have at most, given its views.

Measures of a table whose margins are known are monotone functions of a score, a sum over the rows, which are
the attribute's values. A score is bounded row by row, by what the views leave open for each row, and group by
group, by what is known of a group's rows together. Of both the lesser counts, group by group, and of the views
the one that allows least.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from scipy.special import xlogy

from app.advisor.arrays import FloatArray, IntArray, fold
from app.advisor.caps import Groups, Rows, views_of
from app.advisor.evidence import AttributeEvidence
from app.advisor.measures import Measure


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """The margins of the unknown table, as far as they are known."""

    label: FloatArray
    rows: Rows | None

    @property
    def records(self) -> float:
        return float(self.label.sum())

    @property
    def freedom(self) -> tuple[float, int]:
        """How many values and labels have records."""
        values = np.inf if self.rows is None else float(self.rows.values.sum())
        return values, int(np.count_nonzero(self.label))


@dataclass(frozen=True, slots=True)
class _Ceiling:
    """How a measure is bounded.

    Attributes:
        by_row: the most that each kind of row (kinds,) can score.
        by_group: the most that the rows of each group (groups,) can score together.
        value: the measure at that much score.
        needs_rows: it cannot be told without the histogram.
    """

    by_row: Callable[[Rows, _Known], FloatArray]
    by_group: Callable[[Groups, _Known], FloatArray]
    value: Callable[[float, _Known], float]
    needs_rows: bool = False


def utility_ceiling(evidence: AttributeEvidence, measure: Measure) -> float | None:
    """No table that fits the evidence has more utility for the unmasked attribute, up to rounding.

    An upper bound where higher is better, a lower bound otherwise.

    Args:
        evidence: without faults. Only counts of views whose mapping is known are used.
        measure: of which only the id is looked at.

    Returns:
        In the measure's unit. None where the unmasked counts are given, so that no bound is wanted; where the
        measure has none (some need the histogram); and where the views contradict each other.
    """
    ceiling = _CEILINGS.get(measure.id)
    histogram = evidence.histogram
    if evidence.joint is not None or ceiling is None or (histogram is None and ceiling.needs_rows):
        return None
    if evidence.records == 0:
        return 0.0
    rows = None if histogram is None else Rows.of(evidence, histogram)
    if rows is not None and not rows.possible:
        return None
    known = _Known(evidence.label_histogram.astype(np.float64), rows)
    return ceiling.value(_most(evidence, ceiling, known), known)


def _most(evidence: AttributeEvidence, ceiling: _Ceiling, known: _Known) -> float:
    """The most score of any table that fits: the least that any view allows."""
    rows = known.rows
    alone = None if rows is None else rows.values * ceiling.by_row(rows, known)
    least = np.inf
    for mapping, counts in views_of(evidence):
        together = ceiling.by_group(Groups.of(mapping, counts, rows), known)
        if rows is not None and alone is not None:
            together = np.minimum(together, fold(alone, mapping[rows.kind_of], counts.shape[0]))
        least = min(least, float(together.sum()))
    return least


def _entropy(counts: FloatArray) -> FloatArray:
    """`sum x log2 x` along the last axis."""
    found: FloatArray = np.sum(xlogy(counts, counts), axis=-1) / np.log(2)
    return found


def _squares(counts: FloatArray) -> FloatArray:
    """`sum x^2` along the last axis."""
    found: FloatArray = np.sum(counts**2, axis=-1)
    return found


def _certainty_by_row(rows: Rows, known: _Known) -> FloatArray:  # noqa: ARG001 - all are called alike
    """`sum F log2 F - f log2 f`, which is convex: greatest at the majorant."""
    return _entropy(rows.majorant()) - _entropy(rows.records[:, np.newaxis])


def _certainty_by_group(groups: Groups, known: _Known) -> FloatArray:  # noqa: ARG001 - all are called alike
    """Values tell no more of the label than if it was merged into as many classes; nor than a coupling can."""
    most = _entropy(groups.counts) - _entropy(groups.merged())
    coupled = groups.majorant()
    if coupled is not None and groups.largest is not None:
        most = np.minimum(most, _entropy(coupled) - _entropy(groups.largest))
    return np.minimum(most, 0.0)


def _agreement_by_row(rows: Rows, known: _Known) -> FloatArray:  # noqa: ARG001 - all are called alike
    """`sum F^2 - f^2`: minus the ordered pairs of records that differ."""
    return _squares(rows.majorant()) - rows.records**2


def _agreement_by_group(groups: Groups, known: _Known) -> FloatArray:  # noqa: ARG001 - all are called alike
    coupled = groups.majorant()
    if coupled is None or groups.largest is None:
        return np.zeros(groups.values.size)
    return np.minimum(_squares(coupled) - _squares(groups.largest), 0.0)


def _modes_by_row(rows: Rows, known: _Known) -> FloatArray:  # noqa: ARG001 - all are called alike
    """The largest count."""
    return rows.majorant()[:, 0]


def _modes_by_group(groups: Groups, known: _Known) -> FloatArray:  # noqa: ARG001 - all are called alike
    """That many values have largest counts in that many columns at most."""
    return _largest_of(groups.counts, groups.values)


def _gini_by_row(rows: Rows, known: _Known) -> FloatArray:  # noqa: ARG001 - all are called alike
    """`sum F^2 / f`. In a group it is no more than the largest counts."""
    return _squares(rows.majorant()) / rows.records


def _pure_by_row(rows: Rows, known: _Known) -> FloatArray:  # noqa: ARG001 - all are called alike
    """The records, if they can be of one label."""
    return np.where(rows.majorant()[:, 0] >= rows.records, rows.records, 0.0)


def _pure_by_group(groups: Groups, known: _Known) -> FloatArray:  # noqa: ARG001 - all are called alike
    """Where labels outnumber values, some value is mixed, and each other one has one label."""
    outnumbered = groups.values < np.count_nonzero(groups.counts, axis=1)
    return _largest_of(groups.counts, groups.values - outnumbered)


def _contingency_by_row(rows: Rows, known: _Known) -> FloatArray:
    """`sum F^2 / (f c)` where c are the label's counts."""

    def cell(counts: FloatArray) -> FloatArray:
        found: FloatArray = counts**2 * _inverse(known.label) / rows.records[:, np.newaxis]
        return found

    return _chords(rows, cell)


def _contingency_by_group(groups: Groups, known: _Known) -> FloatArray:
    """`sum_a F^2 / f = F_g s` with s at most 1 for each label, and at most the number of values for all."""
    return _largest_of(groups.counts * _inverse(known.label), groups.values)


def _divergence_by_row(rows: Rows, known: _Known) -> FloatArray:
    """`(KL(F || M) + KL(E || M)) / 2` where `E = f c / N` is expected and M is the mean of both."""
    return _chords(rows, lambda counts: _halves(counts, rows.records[:, np.newaxis] * known.label / known.records))


def _divergence_by_group(groups: Groups, known: _Known) -> FloatArray:
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


def _information(score: float, known: _Known) -> float:
    uncertain = known.records * np.log2(known.records) - float(_entropy(known.label))
    return max(0.0, float(score + uncertain) / known.records)


def _label_entropy(known: _Known) -> float:
    return _information(0.0, known)


def _share_of_entropy(score: float, known: _Known) -> float:
    whole = _label_entropy(known)
    return min(1.0, _information(score, known) / whole) if whole > 0 else 0.0


def _normalised(score: float, known: _Known) -> float:
    if known.rows is None:
        raise ValueError("the entropy of the values is not known without a histogram")
    own = float(known.rows.values @ _entropy(known.rows.records[:, np.newaxis]))
    both = np.log2(known.records) - own / known.records + _label_entropy(known)
    return float(min(1.0, 2 * _information(score, known) / both)) if both > 0 else 0.0


def _errors_saved(score: float, known: _Known) -> float:
    most = float(known.label.max())
    errors = known.records - most
    return min(1.0, max(0.0, score - most) / errors) if errors > 0 else 0.0


def _impurity_saved(score: float, known: _Known) -> float:
    base = float(_squares(known.label)) / known.records
    left = known.records - base
    return min(1.0, max(0.0, score - base) / left) if left > 0 else 0.0


def _chi_square(score: float, known: _Known) -> float:
    return max(0.0, known.records * (score - 1.0))


def _cramers_v(score: float, known: _Known) -> float:
    least = min(known.freedom) - 1
    return min(1.0, float(np.sqrt(max(0.0, score - 1.0) / least))) if least > 0 else 0.0


def _cramers_v_corrected(score: float, known: _Known) -> float:
    """Bergsma 2013, "A bias-correction for Cramer's V and Tschuprow's T"."""
    more = known.records - 1
    values, labels = (size - 1 for size in known.freedom)
    if more <= 0 or min(values, labels) <= 0:
        return 0.0
    least = min(size * (1 - size / more) for size in (values, labels))
    square = max(0.0, score - 1.0 - values * labels / more)
    return min(1.0, float(np.sqrt(square / least))) if least > 0 else 0.0


def _rest(score: float, known: _Known) -> float:
    return max(0.0, 1.0 - score / known.records)


def _pairs(score: float, known: _Known) -> float:
    return max(0.0, -score / known.records / known.records)


def _mean(score: float, known: _Known) -> float:
    return max(0.0, score / known.records)


_CEILINGS = MappingProxyType(
    {
        "mutual_information": _Ceiling(_certainty_by_row, _certainty_by_group, _information),
        "theils_u": _Ceiling(_certainty_by_row, _certainty_by_group, _share_of_entropy),
        "normalised_mutual_information": _Ceiling(_certainty_by_row, _certainty_by_group, _normalised, needs_rows=True),
        "chi_square": _Ceiling(_contingency_by_row, _contingency_by_group, _chi_square),
        "cramers_v": _Ceiling(_contingency_by_row, _contingency_by_group, _cramers_v, needs_rows=True),
        "cramers_v_corrected": _Ceiling(
            _contingency_by_row, _contingency_by_group, _cramers_v_corrected, needs_rows=True
        ),
        "goodman_kruskal_lambda": _Ceiling(_modes_by_row, _modes_by_group, _errors_saved),
        "goodman_kruskal_tau": _Ceiling(_gini_by_row, _modes_by_group, _impurity_saved),
        "jensen_shannon": _Ceiling(_divergence_by_row, _divergence_by_group, _mean),
        "g1": _Ceiling(_agreement_by_row, _agreement_by_group, _pairs),
        "g2": _Ceiling(_pure_by_row, _pure_by_group, _rest),
        "g3": _Ceiling(_modes_by_row, _modes_by_group, _rest),
    }
)
"""How each measure is bounded, by its id. What is not here has no ceiling."""
