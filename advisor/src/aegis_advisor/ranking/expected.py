"""What models will reach on the tables of ranked configurations, and on the table as it is."""

from collections.abc import Sequence

import numpy as np

from aegis_advisor.arrays import Codes, FloatArray
from aegis_advisor.errors import MissingCountsError, TooManyColumnsError
from aegis_advisor.evidence import IDENTITY, AttributeEvidence, PairCounts, PublishedTrace
from aegis_advisor.expected import Expected, expect, expect_of_trace
from aegis_advisor.joint import Estimate
from aegis_advisor.ranking.scores import KnownPairs, estimates
from aegis_advisor.reconstruction import Reference


def expected_performance(
    evidence: Sequence[AttributeEvidence],
    references: Sequence[Reference],
    options: Sequence[tuple[str, ...]],
    codes: Codes,
    pairs: Sequence[PairCounts],
    weights: FloatArray,
    published: PublishedTrace | None = None,
) -> tuple[list[Expected | None], Expected | None]:
    """Expect the performance of a model on masked tables, and on the table as it is.

    Args:
        evidence: on the attributes of a question.
        references: their references (`reconstruct`), in the same order.
        options: per attribute, the masking ids, `identity` and `drop` that codes stand for.
        codes: (configurations, attributes); few, since each takes about a tenth of a second.
        pairs: pair counts of these attributes.
        weights: (attributes,) a model learns from those with a weight above 0.
        published: the adjusted trace of the unmasked table, which counts only if its counts are not known. The shape of
            its scores is that of the first configuration's.

    Returns:
        For each configuration what is expected, None where counts are missing or the label is a number; and the same of the unmasked table.
    """
    if any(one.label_scores is not None for one in evidence):  # classes with scores are a number
        return [None] * len(codes), None
    places = np.flatnonzero(weights).tolist()
    evidence, options = [evidence[place] for place in places], [options[place] for place in places]
    estimate = estimates(evidence, [references[place] for place in places])
    codes, pairs = codes[:, places], KnownPairs(pairs, ()).among(places).counts
    unmasked = np.array([[names.index(IDENTITY) for names in options]])
    each, whole = _expected(evidence, options, codes, pairs, estimate), None
    if evidence and all(one.joint is not None for one in evidence):
        whole = _expected(evidence, options, unmasked, pairs, estimate)[0]
    if whole is None and published is not None and each and each[0] is not None:
        whole = expect_of_trace(evidence, options, codes[:1], pairs, published.value, estimate)
    return each, whole


def _expected(
    evidence: Sequence[AttributeEvidence],
    options: Sequence[tuple[str, ...]],
    codes: Codes,
    pairs: Sequence[PairCounts],
    estimate: Estimate,
) -> list[Expected | None]:
    try:
        return expect(evidence, options, codes, pairs, estimate)
    except (MissingCountsError, TooManyColumnsError):
        return [None] * len(codes)
