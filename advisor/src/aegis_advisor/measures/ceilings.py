"""Ceilings: the highest utility that an attribute can have, given its views.

Measures of a table with known margins are monotone functions of a score, which is a sum over the rows, the
attribute's values. A score is bounded in two ways: row by row, by what the views leave open for each row, and group by
group, from the sums over a group. Each group uses the lesser of the two bounds, and the view with the lowest total is
used.
"""

import numpy as np

from aegis_advisor.arrays import fold
from aegis_advisor.evidence import AttributeEvidence
from aegis_advisor.measures.measure import ByGroup, ByRow
from aegis_advisor.measures.partial_table import GroupLimits, PartialTable, RowLimits, constraining_views
from aegis_advisor.measures.registry import MEASURES

LARGEST = 5_000_000
"""The most cells (values times labels) of an attribute for which ceilings are computed; more would take minutes."""


def utility_ceilings(evidence: AttributeEvidence) -> dict[str, float]:
    """Bound the utility of the unmasked attribute in every table that fits the evidence, up to rounding.

    The bounds are upper bounds if higher is better, else lower bounds.

    Args:
        evidence: without faults. Only the counts of views with a known mapping are used.

    Returns:
        By measure id, in the measure's unit. It is empty if the unmasked counts are given (no bound is needed), if the
        views contradict each other, if the label's histogram is not certain, or if there are more than `LARGEST` cells.
        Measures that need the histogram are missing without one.
    """
    if evidence.joint is not None or not evidence.knows_label or evidence.values * evidence.labels > LARGEST:
        return {}
    if evidence.records == 0:
        return dict.fromkeys(MEASURES, 0.0)
    rows = None if evidence.histogram is None else RowLimits.of(evidence, evidence.histogram)
    if rows is not None and not rows.possible:
        return {}
    known = PartialTable(evidence.label_counts.astype(np.float64), rows)
    ceilings = {measure.id: measure.ceiling for measure in MEASURES.values()}
    possible = {measure: one for measure, one in ceilings.items() if rows is not None or not one.needs_rows}
    # Several measures are functions of one score.
    scores = dict.fromkeys((one.by_row, one.by_group) for one in possible.values())
    most = dict(zip(scores, _most(evidence, list(scores), known), strict=True))
    return {measure: one.at(most[one.by_row, one.by_group], known) for measure, one in possible.items()}


def _most(evidence: AttributeEvidence, scores: list[tuple[ByRow, ByGroup]], known: PartialTable) -> list[float]:
    """An upper bound of each score over all tables that fit: the lowest of those that the views give."""
    rows, least = known.rows, [np.inf] * len(scores)
    if rows is not None:
        singly = np.column_stack([rows.values * by_row(rows, known) for by_row, _ in scores])
    for mapping, counts in constraining_views(evidence):
        limits = GroupLimits.of(mapping, counts, rows)
        most = np.column_stack([by_group(limits, known) for _, by_group in scores])
        if rows is not None:
            most = np.minimum(most, fold(singly, mapping[rows.kind_of], counts.shape[0]))
        least = np.minimum(least, most.sum(axis=0)).tolist()
    return least
