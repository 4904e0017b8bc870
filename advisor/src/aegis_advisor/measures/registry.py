"""All measures. To add one, write its function, its gradient and its ceiling, and add a record here.

A ceiling is the highest utility that an attribute can have, given its views. Measures of a table with known margins are
monotone functions of a score, which is a sum over the rows, the attribute's values. A score is bounded in two ways: row
by row, by what the views leave open for each row, and group by group, from the sums over a group. Each group uses the
lesser of the two bounds, and the view with the lowest total is used.
"""

from dataclasses import replace
from types import MappingProxyType
from typing import Final

import numpy as np

from aegis_advisor.arrays import fold
from aegis_advisor.errors import UnknownMeasureError
from aegis_advisor.evidence import AttributeEvidence
from aegis_advisor.measures import association, bias, determination, information, numbers
from aegis_advisor.measures.measure import ByGroup, ByRow, Ceiling, Measure
from aegis_advisor.measures.partial_table import GroupLimits, PartialTable, RowLimits, constraining_views
from aegis_advisor.measures.rounding import RoundingRule, largest_counts

_KIVINEN: Final = "Kivinen & Mannila 1995, Approximate inference of functional dependencies from relations"
_GOODMAN: Final = "Goodman & Kruskal 1954, Measures of association for cross classifications"
_GUESSES: Final = (
    "Whoever knows the value can guess as if only the masked value were known: merging values never avoids an error."
)
_DIVERGENCE: Final = (
    "An f-divergence between the joint distribution and the product of its margins: merging values never raises it."
)
_DIVERGENCE_OF_LABELS: Final = (
    "An f-divergence between the joint distribution and the product of its margins: merging labels never raises it."
)
_EASIER: Final = "Merged labels are easier to guess: merging them never raises the error, so it would seem to help."
_ERROR_BEFORE: Final = "Merging labels also lowers the error of guesses without the value, so the measure can rise."
_ENTROPY_OF_LABELS: Final = "Merging labels also lowers the entropy H(Y) in the divisor, so the measure can rise."
_CONVEX: Final = (
    "A convex function of each value's distribution over the labels, averaged: merging values never raises it."
)

_ADDITIVE: Final = "Indicators of masked values are sums of indicators of values, so together they never explain more."

_CORRELATION_RATIO = Measure(
    "correlation_ratio",
    "fraction",
    "higher",
    monotone=True,
    reason="Variance between values: merging values never raises it, since within the merged value it adds some.",
    label_monotone=False,
    label_reason="Merging labels also lowers the variance of their scores in the divisor, so the measure can rise.",
    formula="sum f (mean_a - mean)^2 / (N variance), means of the label's scores, by default 0, 1, 2, ...",
    source="Pearson 1905, On the general theory of skew correlation and non-linear regression",
    function=numbers.correlation_ratio,
    slopes=numbers.correlation_ratio_gradient,
    ceiling=Ceiling(numbers.number_by_row, numbers.number_by_group, numbers.correlation_ratio_at),
    scale=numbers.correlation_ratio_scale,
    bias=numbers.correlation_ratio_bias,
    rounding=RoundingRule(numbers.number_scores, numbers.correlation_ratio_rate, is_numbered=True),
    correction=numbers.correlation_ratio_adjustment,
    uses_scores=True,
)

_JOINT_SCORES = replace(
    _CORRELATION_RATIO,
    id="joint_scores",
    reason=_ADDITIVE,
    formula="R^2 of the label's scores given all masked values, additively: tr(Sxx^+ Sxy Sxy') / variance; of one "
    "attribute correlation_ratio",
    source="Ezekiel 1930, Methods of correlation analysis",
    corrected_by_default=True,
    is_joint=True,
)

_JOINT = Measure(
    "joint",
    None,
    "higher",
    monotone=True,
    reason=_ADDITIVE,
    label_monotone=True,
    label_reason="Indicators of masked labels are sums of indicators of labels, so together they never say more.",
    formula="tr(Sxx^+ Sxy Syy^+ Syx), indicators x of masked values, y of labels; of one attribute chi_square / N; if "
    "the label has scores, joint_scores",
    source="Pillai 1955, Some new test criteria in multivariate analysis",
    function=association.mean_square_contingency,
    slopes=association.mean_square_gradient,
    ceiling=Ceiling(association.contingency_by_row, association.contingency_by_group, association.mean_square_at),
    scale=association.mean_square_scale,
    bias=association.mean_square_bias,
    rounding=RoundingRule(bias.contingency_scores, association.mean_square_scale),
    correction=association.mean_square_adjustment,
    corrected_by_default=True,
    is_joint=True,
    of_scores=_JOINT_SCORES,
)

_JOINT_INTERACTIONS = replace(
    _JOINT,
    id="joint_interactions",
    of_scores=None,
    monotone=False,
    reason="What may be chance does not count, so merging values can turn an interaction into one that does.",
    label_monotone=False,
    label_reason="What may be chance does not count, so merging labels can turn an interaction into one that does.",
    formula="joint, plus shares of what it leaves unexplained: of pairs whose combination explains more than the two "
    "alone, adj(chi_square_ij / N) > adj(V_ij), by more than chance; a forest of them, those of copies discounted",
    source="docs/model.md; the forest as in Chow & Liu 1968, the adjustment as in Ezekiel 1930",
    sees_interactions=True,
)

_RECORDS: Final = (
    Measure(
        "mutual_information",
        "bit",
        "higher",
        monotone=True,
        reason=_DIVERGENCE,
        label_monotone=True,
        label_reason=_DIVERGENCE_OF_LABELS,
        formula="sum P log2(P / (P_a P_y))",
        source="Cover & Thomas 2006, Elements of information theory, equation 2.28",
        function=information.mutual_information,
        slopes=information.mutual_information_gradient,
        ceiling=Ceiling(information.certainty_by_row, information.certainty_by_group, information.information_at),
        scale=information.mutual_information_scale,
        bias=information.mutual_information_bias,
        rounding=RoundingRule(bias.certainty_scores, information.mutual_information_rate),
        is_steep=True,
        correction=information.mutual_information_bias,
        of_information=lambda information, _values, _label: information,
    ),
    Measure(
        "chi_square",
        None,
        "higher",
        monotone=True,
        reason=_DIVERGENCE,
        label_monotone=True,
        label_reason=_DIVERGENCE_OF_LABELS,
        formula="sum (O - E)^2 / E, E = row * column / N, cells with E = 0 left out",
        source="Pearson 1900, On the criterion that a given system of deviations from the probable ...",
        function=association.chi_square,
        slopes=association.chi_square_gradient,
        ceiling=Ceiling(association.contingency_by_row, association.contingency_by_group, association.chi_square_at),
        scale=association.chi_square_scale,
        bias=association.chi_square_bias,
        rounding=RoundingRule(bias.contingency_scores, association.chi_square_scale),
        correction=association.chi_square_bias,
    ),
    Measure(
        "g3",
        "fraction",
        "lower",
        monotone=True,
        reason=_GUESSES,
        label_monotone=False,
        label_reason=_EASIER,
        formula="1 - sum_a max_y F(a, y) / N",
        source=_KIVINEN,
        function=determination.g3,
        slopes=determination.g3_gradient,
        bias=determination.g3_bias,
        bias_is_most=True,
        rounding=RoundingRule(largest_counts, determination.rest_rate),
        ceiling=Ceiling(determination.modes_by_row, determination.modes_by_group, determination.rest_at),
    ),
    Measure(
        "g1",
        "fraction",
        "lower",
        monotone=True,
        reason="Records that agree on the value agree on the masked value: merging values never removes a pair.",
        label_monotone=False,
        label_reason="Records that agree on the label agree on the masked label: merging labels never adds a pair.",
        formula="ordered pairs of records that agree on A and differ on Y, over N^2",
        source=_KIVINEN,
        function=determination.g1,
        slopes=determination.g1_gradient,
        bias=determination.g1_bias,
        ceiling=Ceiling(determination.agreement_by_row, determination.agreement_by_group, determination.g1_at),
        weighs_values=True,
    ),
    Measure(
        "g2",
        "fraction",
        "lower",
        monotone=True,
        reason="Records that agree on the value agree on the masked value: merging values never removes a pair.",
        label_monotone=False,
        label_reason="Records that agree on the label agree on the masked label: merging labels never adds a pair.",
        formula="records in at least one pair that agrees on A and differs on Y, over N",
        source=_KIVINEN,
        function=determination.g2,
        slopes=None,
        ceiling=Ceiling(determination.pure_by_row, determination.pure_by_group, determination.rest_at),
        depends_on_support=True,
    ),
    Measure(
        "theils_u",
        "fraction",
        "higher",
        monotone=True,
        reason="Mutual information over the label's entropy, which no masking of the attribute changes.",
        label_monotone=False,
        label_reason=_ENTROPY_OF_LABELS,
        formula="I(A; Y) / H(Y)",
        source="Theil 1970, On the estimation of relationships involving qualitative variables",
        function=information.theils_u,
        slopes=information.theils_u_gradient,
        ceiling=Ceiling(information.certainty_by_row, information.certainty_by_group, information.theils_u_at),
        scale=information.theils_u_scale,
        bias=information.theils_u_bias,
        rounding=RoundingRule(bias.certainty_scores, information.theils_u_rate),
        is_steep=True,
        of_information=information.theils_u_of,
    ),
    Measure(
        "goodman_kruskal_lambda",
        "fraction",
        "higher",
        monotone=True,
        reason=_GUESSES,
        label_monotone=False,
        label_reason=_ERROR_BEFORE,
        formula="(sum_a max_y F(a, y) - max_y F(., y)) / (N - max_y F(., y))",
        source=f"{_GOODMAN}, section 5",
        function=determination.goodman_kruskal_lambda,
        slopes=determination.goodman_kruskal_lambda_gradient,
        bias=determination.goodman_kruskal_lambda_bias,
        bias_is_most=True,
        rounding=RoundingRule(largest_counts, determination.lambda_rate),
        ceiling=Ceiling(determination.modes_by_row, determination.modes_by_group, determination.lambda_at),
    ),
    Measure(
        "goodman_kruskal_tau",
        "fraction",
        "higher",
        monotone=True,
        reason=_CONVEX,
        label_monotone=False,
        label_reason=_ERROR_BEFORE,
        formula="(sum P^2 / P_a - sum P_y^2) / (1 - sum P_y^2)",
        source=f"{_GOODMAN}, section 9",
        function=association.goodman_kruskal_tau,
        slopes=association.goodman_kruskal_tau_gradient,
        ceiling=Ceiling(association.gini_by_row, determination.modes_by_group, association.tau_at),
        scale=association.goodman_kruskal_tau_scale,
        bias=association.goodman_kruskal_tau_bias,
        rounding=RoundingRule(bias.gini_scores, association.tau_rate),
    ),
    Measure(
        "cramers_v",
        "fraction",
        "higher",
        monotone=False,
        reason="Where values are fewer than labels, merging also lowers the divisor R - 1, so the measure can rise.",
        label_monotone=False,
        label_reason="Where labels are fewer than values, merging lowers the divisor C - 1, so the measure can rise.",
        formula="sqrt(chi_square / (N min(R - 1, C - 1))), R values and C labels with records",
        source="Cramer 1946, Mathematical methods of statistics, section 21.9",
        function=association.cramers_v,
        slopes=association.cramers_v_gradient,
        ceiling=Ceiling(
            association.contingency_by_row, association.contingency_by_group, association.cramers_v_at, needs_rows=True
        ),
        scale=association.cramers_v_scale,
        bias=association.cramers_v_bias,
        rounding=RoundingRule(bias.contingency_scores, association.square_rate, squared=True),
    ),
    Measure(
        "cramers_v_corrected",
        "fraction",
        "higher",
        monotone=False,
        reason="Merging values lowers both the bias that is subtracted and the divisor, so the measure can rise.",
        label_monotone=False,
        label_reason="Merging labels lowers both the bias that is subtracted and the divisor, so the measure can rise.",
        formula="sqrt(max(0, phi2 - (R-1)(C-1)/(N-1)) / min(R'-1, C'-1)), phi2 = chi_square/N, R' = R - (R-1)^2/(N-1)",
        source="Bergsma 2013, A bias-correction for Cramer's V and Tschuprow's T",
        function=association.cramers_v_corrected,
        slopes=association.cramers_v_corrected_gradient,
        ceiling=Ceiling(
            association.contingency_by_row,
            association.contingency_by_group,
            association.cramers_v_corrected_at,
            needs_rows=True,
        ),
        scale=association.cramers_v_corrected_scale,
        bias=association.cramers_v_corrected_bias,
        rounding=RoundingRule(bias.contingency_scores, association.corrected_rate, squared=True),
    ),
    Measure(
        "jensen_shannon",
        "bit",
        "higher",
        monotone=True,
        reason=_DIVERGENCE,
        label_monotone=True,
        label_reason=_DIVERGENCE_OF_LABELS,
        formula="(KL(P || M) + KL(Q || M)) / 2, Q = P_a P_y, M = (P + Q) / 2, logarithms to base 2",
        source="Lin 1991, Divergence measures based on the Shannon entropy, equation 4.1",
        function=information.jensen_shannon,
        slopes=information.jensen_shannon_gradient,
        ceiling=Ceiling(information.divergence_by_row, information.divergence_by_group, information.jensen_shannon_at),
        scale=information.jensen_shannon_scale,
        bias=information.jensen_shannon_bias,
        rounding=RoundingRule(bias.divergence_scores, information.jensen_shannon_rate),
        is_steep=True,
    ),
    Measure(
        "normalised_mutual_information",
        "fraction",
        "higher",
        monotone=False,
        reason="Merging values also lowers the entropy H(A) in the divisor, so the measure can rise.",
        label_monotone=False,
        label_reason=_ENTROPY_OF_LABELS,
        formula="2 I(A; Y) / (H(A) + H(Y)), the arithmetic mean of the entropies",
        source="Vinh, Epps & Bailey 2010, Information theoretic measures for clusterings comparison, table 2",
        function=information.normalised_mutual_information,
        slopes=information.normalised_mutual_information_gradient,
        ceiling=Ceiling(
            information.certainty_by_row, information.certainty_by_group, information.normalised_at, needs_rows=True
        ),
        scale=information.normalised_scale,
        bias=information.normalised_bias,
        rounding=RoundingRule(bias.certainty_scores, information.normalised_rate),
        is_steep=True,
        of_information=information.normalised_of,
        weighs_values=True,
    ),
    _JOINT,
    _JOINT_INTERACTIONS,
    _JOINT_SCORES,
    _CORRELATION_RATIO,
)

OFFERED: Final = ("joint", "joint_interactions", "mutual_information", "chi_square", "g3", "joint_scores")
"""The measures that are offered first, wherever they are listed; the others are called classical."""


def _place(measure: Measure) -> int:
    return OFFERED.index(measure.id) if measure.id in OFFERED else len(OFFERED)


_BY_ID: Final = {measure.id: measure for measure in sorted(_RECORDS, key=_place)}

MEASURES: Final = MappingProxyType(_BY_ID)
"""All measures by id, in the order in which they are offered."""

TIE_BREAK: Final = MEASURES["mutual_information"]
"""The measure that decides between configurations of equal deviation."""


def measure_named(measure: str) -> Measure:
    """Return the measure with this id.

    Raises:
        UnknownMeasureError: there is no such measure.
    """
    try:
        return MEASURES[measure]
    except KeyError:
        raise UnknownMeasureError(measure) from None


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
    ceilings = {measure.id: measure.scored(evidence.label_scores).ceiling for measure in MEASURES.values()}
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
