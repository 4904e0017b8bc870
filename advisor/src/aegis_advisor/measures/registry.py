"""All measures. To add one, write its function, its gradient and its ceiling, and add a record here."""

from dataclasses import replace
from types import MappingProxyType
from typing import Final

from aegis_advisor.errors import UnknownMeasureError
from aegis_advisor.measures import association, bias, cramers_v, determination, information
from aegis_advisor.measures.measure import Ceiling, Measure
from aegis_advisor.measures.rounding import RoundingRule, largest_counts

_KIVINEN: Final = "Kivinen & Mannila 1995, Approximate inference of functional dependencies from relations"
_GOODMAN: Final = "Goodman & Kruskal 1954, Measures of association for cross classifications"
_GUESSES: Final = (
    "Whoever knows the value can guess as if only the masked value were known: merging values never avoids an error."
)
_DIVERGENCE: Final = (
    "An f-divergence between the joint distribution and the product of its margins: merging values never raises it."
)
_CONVEX: Final = (
    "A convex function of each value's distribution over the labels, averaged: merging values never raises it."
)

_JOINT = Measure(
    "joint",
    None,
    "higher",
    monotone=True,
    reason="Indicators of masked values are sums of indicators of values, so together they never explain more.",
    formula="tr(Sxx^+ Sxy Syy^+ Syx), indicators x of masked values, y of labels; of one attribute chi_square / N",
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
)

_JOINT_INTERACTIONS = replace(
    _JOINT,
    id="joint_interactions",
    monotone=False,
    reason="What may be chance does not count, so merging values can turn an interaction into one that does.",
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
        formula="sqrt(chi_square / (N min(R - 1, C - 1))), R values and C labels with records",
        source="Cramer 1946, Mathematical methods of statistics, section 21.9",
        function=cramers_v.cramers_v,
        slopes=cramers_v.cramers_v_gradient,
        ceiling=Ceiling(
            association.contingency_by_row, association.contingency_by_group, cramers_v.cramers_v_at, needs_rows=True
        ),
        scale=cramers_v.cramers_v_scale,
        bias=cramers_v.cramers_v_bias,
        rounding=RoundingRule(bias.contingency_scores, cramers_v.square_rate, squared=True),
    ),
    Measure(
        "cramers_v_corrected",
        "fraction",
        "higher",
        monotone=False,
        reason="Merging values lowers both the bias that is subtracted and the divisor, so the measure can rise.",
        formula="sqrt(max(0, phi2 - (R-1)(C-1)/(N-1)) / min(R'-1, C'-1)), phi2 = chi_square/N, R' = R - (R-1)^2/(N-1)",
        source="Bergsma 2013, A bias-correction for Cramer's V and Tschuprow's T",
        function=cramers_v.cramers_v_corrected,
        slopes=cramers_v.cramers_v_corrected_gradient,
        ceiling=Ceiling(
            association.contingency_by_row,
            association.contingency_by_group,
            cramers_v.cramers_v_corrected_at,
            needs_rows=True,
        ),
        scale=cramers_v.cramers_v_corrected_scale,
        bias=cramers_v.cramers_v_corrected_bias,
        rounding=RoundingRule(bias.contingency_scores, cramers_v.corrected_rate, squared=True),
    ),
    Measure(
        "jensen_shannon",
        "bit",
        "higher",
        monotone=True,
        reason=_DIVERGENCE,
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
)

OFFERED: Final = ("joint", "joint_interactions", "mutual_information", "chi_square", "g3")
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
