"""The other side of the bound: how much utility an attribute can have at most, given its views.

Measures of a table whose margins are known are monotone functions of a score, a sum over the rows, which are
the attribute's values. A score is bounded row by row, by what the views leave open for each row, and group by
group, by what is known of a group's rows together. Of both the lesser counts, group by group, and of the views
the one that allows least.
"""

import numpy as np

from aegis_advisor.arrays import fold
from aegis_advisor.evidence import AttributeEvidence
from aegis_advisor.measures.measure import ByGroup, ByRow
from aegis_advisor.measures.partial_table import GroupLimits, PartialTable, RowLimits, constraining_views
from aegis_advisor.measures.registry import MEASURES

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
        return dict.fromkeys(MEASURES, 0.0)
    rows = None if evidence.histogram is None else RowLimits.of(evidence, evidence.histogram)
    if rows is not None and not rows.possible:
        return {}
    known = PartialTable(evidence.label_counts.astype(np.float64), rows)
    ceilings = {measure.id: measure.ceiling for measure in MEASURES.values()}
    possible = {measure: one for measure, one in ceilings.items() if rows is not None or not one.needs_rows}
    # Several measures are functions of one score.
    most = {(one.by_row, one.by_group): 0.0 for one in possible.values()}
    for by_row, by_group in most:
        most[by_row, by_group] = _most(evidence, by_row, by_group, known)
    return {measure: one.at(most[one.by_row, one.by_group], known) for measure, one in possible.items()}


def _most(evidence: AttributeEvidence, by_row: ByRow, by_group: ByGroup, known: PartialTable) -> float:
    """The most score of any table that fits: the least that any view allows."""
    rows = known.rows
    singly = None if rows is None else rows.values * by_row(rows, known)
    least = np.inf
    for mapping, counts in constraining_views(evidence):
        most = by_group(GroupLimits.of(mapping, counts, rows), known)
        if rows is not None and singly is not None:
            most = np.minimum(most, fold(singly, mapping[rows.kind_of], counts.shape[0]))
        least = min(least, float(most.sum()))
    return least
