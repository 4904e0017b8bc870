"""What models will reach on the tables of ranked configurations, and on the table as it is."""

from collections.abc import Sequence

import numpy as np

from aegis_advisor.arrays import Codes, FloatArray
from aegis_advisor.errors import MissingCountsError, TooManyColumnsError
from aegis_advisor.evidence import IDENTITY, AttributeEvidence, PairCounts, PublishedTrace
from aegis_advisor.expected import Expected, expect, expect_number, expect_of_trace
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
    variance: float | None = None,
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
        variance: of the label itself, if it is a number; None if the scores of its classes are all there is.

    Returns:
        For each configuration what is expected, None where counts are missing; and the same of the
        unmasked table.
    """
    places = np.flatnonzero(weights).tolist()
    evidence, options = [evidence[place] for place in places], [options[place] for place in places]
    estimate = estimates(evidence, [references[place] for place in places])
    codes, pairs = codes[:, places], KnownPairs(pairs, ()).among(places).counts
    unmasked = np.array([[names.index(IDENTITY) for names in options]])
    is_number = any(one.label_scores is not None for one in evidence)

    def expected(rows: Codes) -> list[Expected | None]:
        try:
            if is_number:
                return expect_number(evidence, options, rows, pairs, variance, estimate)
            return expect(evidence, options, rows, pairs, estimate)
        except (MissingCountsError, TooManyColumnsError):
            return [None] * len(rows)

    each, whole = expected(codes), None
    if all(one.joint is not None for one in evidence):
        [whole] = expected(unmasked)
    if whole is None and not is_number and published is not None and each and each[0] is not None:
        whole = expect_of_trace(evidence, options, codes[:1], pairs, published.value, estimate)
    return each, whole
