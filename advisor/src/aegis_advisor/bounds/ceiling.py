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

from aegis_advisor.arrays import FloatArray, fold
from aegis_advisor.bounds.caps import Groups, Rows, views_of
from aegis_advisor.bounds.scores import (
    Known,
    agreement_by_group,
    agreement_by_row,
    certainty_by_group,
    certainty_by_row,
    contingency_by_group,
    contingency_by_row,
    divergence_by_group,
    divergence_by_row,
    gini_by_row,
    logs,
    modes_by_group,
    modes_by_row,
    pure_by_group,
    pure_by_row,
    squares,
)
from aegis_advisor.evidence import AttributeEvidence

ByRow = Callable[[Rows, Known], FloatArray]
ByGroup = Callable[[Groups, Known], FloatArray]


@dataclass(frozen=True, slots=True)
class _Ceiling:
    """How a measure is bounded.

    Attributes:
        by_row: the most that each kind of row (kinds,) can score.
        by_group: the most that the rows of each group (groups,) can score together.
        value: the measure at that much score.
        needs_rows: it cannot be told without the histogram.
    """

    by_row: ByRow
    by_group: ByGroup
    value: Callable[[float, Known], float]
    needs_rows: bool = False


ROUNDING = 1e-14

LARGEST = 5_000_000
"""Values times labels of an attribute beyond which no ceiling is looked for: it would take minutes."""


def utility_ceilings(evidence: AttributeEvidence) -> dict[str, float]:
    """No table that fits the evidence has more utility for the unmasked attribute, up to rounding.

    An upper bound where higher is better, a lower bound otherwise.

    Args:
        evidence: without faults. Only counts of views whose mapping is known are used.

    Returns:
        By measure id, in the measure's unit. Nothing where the unmasked counts are given, so that no bound is
        wanted, where the views contradict each other, where the label's histogram is not certain, and for more than
        `LARGEST` cells; some measures need the histogram.
    """
    if evidence.joint is not None or not evidence.knows_label or evidence.values * evidence.labels > LARGEST:
        return {}
    if evidence.records == 0:
        return dict.fromkeys(_CEILINGS, 0.0)
    rows = None if evidence.histogram is None else Rows.of(evidence, evidence.histogram)
    if rows is not None and not rows.possible:
        return {}
    known = Known(evidence.label_counts.astype(np.float64), rows)
    possible = {measure: one for measure, one in _CEILINGS.items() if rows is not None or not one.needs_rows}
    # Several measures are functions of one score.
    most = {(one.by_row, one.by_group): 0.0 for one in possible.values()}
    for by_row, by_group in most:
        most[by_row, by_group] = _most(evidence, by_row, by_group, known)
    return {measure: one.value(most[one.by_row, one.by_group], known) for measure, one in possible.items()}


def _most(evidence: AttributeEvidence, by_row: ByRow, by_group: ByGroup, known: Known) -> float:
    """The most score of any table that fits: the least that any view allows."""
    rows = known.rows
    alone = None if rows is None else rows.values * by_row(rows, known)
    least = np.inf
    for mapping, counts in views_of(evidence):
        together = by_group(Groups.of(mapping, counts, rows), known)
        if rows is not None and alone is not None:
            together = np.minimum(together, fold(alone, mapping[rows.kind_of], counts.shape[0]))
        least = min(least, float(together.sum()))
    return least


def _information(score: float, known: Known) -> float:
    uncertain = known.records * np.log2(known.records) - float(logs(known.label))
    return max(0.0, float(score + uncertain) / known.records)


def _label_entropy(known: Known) -> float:
    return _information(0.0, known)


def _share_of_entropy(score: float, known: Known) -> float:
    whole = _label_entropy(known)
    return min(1.0, _information(score, known) / whole) if whole > 0 else 0.0


def _normalised(score: float, known: Known) -> float:
    if known.rows is None:
        raise ValueError("the entropy of the values is not known without a histogram")
    own = float(known.rows.values @ logs(known.rows.records[:, np.newaxis]))
    both = np.log2(known.records) - own / known.records + _label_entropy(known)
    return float(min(1.0, 2 * _information(score, known) / both)) if both > 0 else 0.0


def _errors_saved(score: float, known: Known) -> float:
    most = float(known.label.max())
    errors = known.records - most
    return min(1.0, max(0.0, score - most) / errors) if errors > 0 else 0.0


def _impurity_saved(score: float, known: Known) -> float:
    base = float(squares(known.label)) / known.records
    left = known.records - base
    return min(1.0, max(0.0, score - base) / left) if left > 0 else 0.0


def _chi_square(score: float, known: Known) -> float:
    return max(0.0, known.records * (score - 1.0))


def _mean_square(score: float, known: Known) -> float:  # noqa: ARG001 - all are called alike
    return max(0.0, score - 1.0)


def _cramers_v(score: float, known: Known) -> float:
    least = min(known.freedom) - 1
    return min(1.0, float(np.sqrt(max(0.0, score - 1.0) / least))) if least > 0 else 0.0


def _cramers_v_corrected(score: float, known: Known) -> float:
    """Bergsma 2013, "A bias-correction for Cramer's V and Tschuprow's T"."""
    more = known.records - 1
    values, labels = (size - 1 for size in known.freedom)
    if more <= 0 or min(values, labels) <= 0:
        return 0.0
    least = min(size * (1 - size / more) for size in (values, labels))
    # The root magnifies rounding near 0.
    square = max(0.0, score - 1.0 - values * labels / more + ROUNDING * score)
    return min(1.0, float(np.sqrt(square / least))) if least > 0 else 0.0


def _rest(score: float, known: Known) -> float:
    return max(0.0, 1.0 - score / known.records)


def _pairs(score: float, known: Known) -> float:
    return max(0.0, -score / known.records / known.records)


def _mean(score: float, known: Known) -> float:
    return max(0.0, score / known.records)


_CEILINGS = MappingProxyType(
    {
        "mutual_information": _Ceiling(certainty_by_row, certainty_by_group, _information),
        "theils_u": _Ceiling(certainty_by_row, certainty_by_group, _share_of_entropy),
        "normalised_mutual_information": _Ceiling(certainty_by_row, certainty_by_group, _normalised, needs_rows=True),
        "chi_square": _Ceiling(contingency_by_row, contingency_by_group, _chi_square),
        "joint": _Ceiling(contingency_by_row, contingency_by_group, _mean_square),
        "cramers_v": _Ceiling(contingency_by_row, contingency_by_group, _cramers_v, needs_rows=True),
        "cramers_v_corrected": _Ceiling(
            contingency_by_row, contingency_by_group, _cramers_v_corrected, needs_rows=True
        ),
        "goodman_kruskal_lambda": _Ceiling(modes_by_row, modes_by_group, _errors_saved),
        "goodman_kruskal_tau": _Ceiling(gini_by_row, modes_by_group, _impurity_saved),
        "jensen_shannon": _Ceiling(divergence_by_row, divergence_by_group, _mean),
        "g1": _Ceiling(agreement_by_row, agreement_by_group, _pairs),
        "g2": _Ceiling(pure_by_row, pure_by_group, _rest),
        "g3": _Ceiling(modes_by_row, modes_by_group, _rest),
    }
)
"""How each measure is bounded, by its id. What is not here has no ceiling."""
