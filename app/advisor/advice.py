"""From a question to its answer: measure each attribute, rank, and say what the order is worth."""

from collections.abc import Sequence

import numpy as np

from app.advisor.arrays import BoolArray, FloatArray
from app.advisor.blocks import CodeBlocks, Codes
from app.advisor.deviation import AttributeAssessment, assess
from app.advisor.errors import NoConfigurationError, NoEvidenceError
from app.advisor.evidence import AttributeEvidence, PairCounts
from app.advisor.measures import MEASURES, Measure
from app.advisor.ranking import Ranking, rank
from app.advisor.recommendation import JointFinding, Question, RankedRows, Recommendation
from app.advisor.reconstruction import Reference
from app.advisor.sampling import Errors, difference_errors, indistinguishable, standard_errors, utility_errors
from app.advisor.scoring import Scores, lookups, score_alone, score_together
from app.advisor.selected import Selected
from app.advisor.sufficiency import (
    RankingBasis,
    joint_ranking_basis,
    lacks_evidence,
    lacks_own_reference,
    ranking_basis,
)

__all__ = [
    "JointFinding",
    "Question",
    "RankedRows",
    "Recommendation",
    "lacks_evidence",
    "lacks_own_reference",
    "recommend",
]

TIE_TOLERANCE = 1e-9
"""Deviations this close, relative to the largest reference utility, are a tie (contract, advice)."""

MOST_LISTED = 10_000
"""Of a million configurations, half may be as good as the best: a list of them all would help nobody."""


def recommend(
    evidence: Sequence[AttributeEvidence],
    references: Sequence[Reference],
    codes: Codes,
    options: Sequence[tuple[str, ...]],
    question: Question,
    pairs: Sequence[PairCounts] = (),
) -> Recommendation:
    """Pick the configuration that loses the least utility.

    Args:
        evidence: of the selected attributes, in the question's order.
        references: their references (`reconstruct`), in the same order.
        codes: (configurations, attributes) indices into the attribute's options.
        options: per attribute the masking ids, `identity` and `drop`, that codes stand for.
        question: what is asked.
        pairs: pair counts of the selected attributes; joint measures need them.

    Raises:
        UnknownMeasureError: there is no such measure.
        ValueError: the bias of the measure is to be corrected, and is not known; or a joint measure has weights.
        NoConfigurationError: there are no configurations.
        NoEvidenceError: an attribute with weight is treated differently, without evidence of what it tells.
        OwnReferenceError: the reference `own` lacks mapping or counts of a masking.
        MissingCountsError, MissingPairsError, ContradictoryPairsError, TooManyColumnsError: a joint measure cannot be
            told from these counts.
    """
    measure = question.resolve()
    if codes.shape[0] == 0:
        raise NoConfigurationError
    blocks = CodeBlocks.of(codes, [len(names) for names in options])
    selected = Selected.all_of(evidence, references, options, blocks)
    weighted = [one for one, weight in zip(selected, question.weights, strict=True) if weight > 0]
    for one in weighted:
        if len(one.used) > 1 and lacks_evidence(one.evidence.flags):
            raise NoEvidenceError(one.evidence.name)
    assessments = [
        one.assess(measure, question, counts=weight > 0) for one, weight in zip(selected, question.weights, strict=True)
    ]
    if measure.is_joint and len(weighted) > 1:
        scores = score_together(selected, assessments, codes, pairs, question)
    else:
        scores = score_alone(selected, assessments, blocks, question.weights)
    ranking = _rank(selected, assessments, blocks, scores, question)
    errors = [one.errors(measure, found) for one, found in zip(selected, assessments, strict=True)]
    moves = [utility_errors(each, one.options) for one, each in zip(selected, errors, strict=True)]
    vectors = None
    if scores.together is None and question.reference == "pooled":  # deviations by `own` are not those of a sample
        vectors = _difference_vectors(selected, errors, blocks, ranking.best, question)
    within = None if vectors is None else _indistinguishable(blocks, vectors, ranking)
    basis = _basis(weighted, measure, question)
    return Recommendation(
        best=ranking.best,
        deviation=float(ranking.deviations[ranking.best]),
        tied=tuple(ranking.tied.tolist()),
        considered=len(blocks),
        ranking_basis=basis,
        ranking=_ranked_rows(moves, blocks, ranking, scores, vectors, question),
        attributes=tuple(map(Selected.with_errors, selected, assessments, moves)),
        indistinguishable=None if within is None else ranking.in_order(within, MOST_LISTED),
        indistinguishable_count=None if within is None else int(within.sum()),
        joint=None if scores.together is None else scores.together.finding(ranking.best, basis),
    )


def _rank(
    selected: Sequence[Selected],
    assessments: Sequence[AttributeAssessment],
    blocks: CodeBlocks,
    scores: Scores,
    question: Question,
) -> Ranking:
    tie_break = MEASURES["mutual_information"]
    informed = assessments
    if (question.measure, question.reference, question.bias_correction) != (tie_break.id, "pooled", False):
        informed = [assess(one.evidence, one.reference, tie_break, one.used) for one in selected]
    return rank(
        blocks,
        deviations=scores.deviations,
        tie_utilities=lookups(selected, informed, "utility", question.weights),
        tolerance=TIE_TOLERANCE * scores.largest,
        limit=question.limit,
    )


def _difference_vectors(
    selected: Sequence[Selected], errors: Sequence[Errors], blocks: CodeBlocks, best: int, question: Question
) -> list[FloatArray]:
    """Per attribute (options, n), the weighted error vector of each option's deviation less that of the best."""
    parts = zip(selected, errors, question.weights, blocks.options_of(best), strict=True)
    return [weight * difference_errors(each, one.options, one.options[code]) for one, each, weight, code in parts]


def _ranked_rows(
    moves: Sequence[FloatArray],
    blocks: CodeBlocks,
    ranking: Ranking,
    scores: Scores,
    vectors: Sequence[FloatArray] | None,
    question: Question,
) -> RankedRows:
    rows = ranking.order
    weighted = [weight * each for weight, each in zip(question.weights, moves, strict=True)]
    unknown = np.full(rows.size, np.nan)
    return RankedRows(
        index=rows,
        deviation=ranking.deviations[rows],
        utility=scores.utilities(rows),
        standard_error=standard_errors(blocks, weighted, rows) if scores.together is None else unknown,
        difference_error=unknown if vectors is None else standard_errors(blocks, vectors, rows),
    )


def _indistinguishable(blocks: CodeBlocks, vectors: Sequence[FloatArray], ranking: Ranking) -> BoolArray:
    """Which configurations cannot be told from the best: a mask (configurations,)."""
    gaps = ranking.deviations - ranking.deviations.min()
    within = indistinguishable(blocks, vectors, gaps, ranking.tolerance)
    within[ranking.tied] = True
    return within


def _basis(weighted: Sequence[Selected], measure: Measure, question: Question) -> RankingBasis:
    if question.reference == "own":  # no reference is common to the configurations
        return "estimated"
    basis = joint_ranking_basis if measure.is_joint and len(weighted) > 1 else ranking_basis
    return basis([one.evidence for one in weighted], measure, [one.used for one in weighted])
