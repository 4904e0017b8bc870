"""From a question to its answer: measure each attribute, rank, and say what the order is worth."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from app.advisor.arrays import BoolArray, FloatArray
from app.advisor.blocks import CodeBlocks, Codes
from app.advisor.deviation import AttributeAssessment, assess
from app.advisor.errors import NoConfigurationError, NoEvidenceError
from app.advisor.evidence import AttributeEvidence
from app.advisor.measures import MEASURES, Measure
from app.advisor.own import assess_own
from app.advisor.ranking import Ranking, rank
from app.advisor.recommendation import Question, RankedRows, Recommendation
from app.advisor.reconstruction import Reference
from app.advisor.sampling import (
    Errors,
    Sample,
    difference_errors,
    indistinguishable,
    influences,
    standard_errors,
    utility_errors,
)
from app.advisor.sufficiency import RankingBasis, lacks_evidence, lacks_own_reference, ranking_basis

__all__ = [
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
) -> Recommendation:
    """Pick the configuration that loses the least utility.

    Args:
        evidence: of the selected attributes, in the question's order.
        references: their references (`reconstruct`), in the same order.
        codes: (configurations, attributes) indices into the attribute's options.
        options: per attribute the masking ids, `identity` and `drop`, that codes stand for.
        question: what is asked.

    Raises:
        UnknownMeasureError: there is no such measure.
        ValueError: the bias of the measure is to be corrected, and is not known.
        NoConfigurationError: there are no configurations.
        NoEvidenceError: an attribute with weight is treated differently, without evidence of what it tells.
        OwnReferenceError: the reference `own` lacks mapping or counts of a masking.
    """
    measure = question.resolve()
    if codes.shape[0] == 0:
        raise NoConfigurationError
    blocks = CodeBlocks.of(codes, [len(names) for names in options])
    selected = [_Selected(*parts) for parts in zip(evidence, references, options, _used(blocks, options), strict=True)]
    weighted = [one for one, weight in zip(selected, question.weights, strict=True) if weight > 0]
    for one in weighted:
        if len(one.used) > 1 and lacks_evidence(one.evidence.flags):
            raise NoEvidenceError(one.evidence.name)
    assessments = [
        one.assess(measure, question, counts=weight > 0) for one, weight in zip(selected, question.weights, strict=True)
    ]
    ranking = _rank(selected, assessments, blocks, question)
    errors = [one.errors(measure, found) for one, found in zip(selected, assessments, strict=True)]
    moves = [utility_errors(each, one.options) for one, each in zip(selected, errors, strict=True)]
    vectors = _difference_vectors(selected, errors, blocks, ranking.best, question)
    within = None if vectors is None else _indistinguishable(blocks, vectors, ranking)
    return Recommendation(
        best=ranking.best,
        deviation=float(ranking.deviations[ranking.best]),
        tied=tuple(ranking.tied.tolist()),
        considered=len(blocks),
        ranking_basis=_basis(weighted, measure, question),
        ranking=_ranked_rows(selected, assessments, moves, blocks, ranking, vectors, question),
        attributes=tuple(map(_with_errors, selected, assessments, moves)),
        indistinguishable=None if within is None else ranking.in_order(within, MOST_LISTED),
        indistinguishable_count=None if within is None else int(within.sum()),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Selected:
    """One selected attribute: what is known of it, its options, and those that configurations use."""

    evidence: AttributeEvidence
    reference: Reference
    options: tuple[str, ...]
    used: tuple[str, ...]

    def assess(self, measure: Measure, question: Question, *, counts: bool) -> AttributeAssessment:
        # What does not count is only described, and may lack what the reference `own` needs.
        if question.reference == "own" and counts:
            return assess_own(self.evidence, self.reference, measure, self.used, question.rounding_seed)
        return assess(self.evidence, self.reference, measure, self.used)

    def errors(self, measure: Measure, found: AttributeAssessment) -> Errors:
        sample = Sample.of(self.evidence, self.reference, measure)
        return Errors.of(
            measure, sample, influences(self.evidence, sample, measure, self.used, found.reference_utility), found
        )

    def by_code(self, found: AttributeAssessment, what: Literal["deviation", "utility"]) -> FloatArray:
        """Deviation or utility by code (options,); options that no configuration uses are not a number."""
        table = np.full(len(self.options), np.nan)
        for code, option in enumerate(self.options):
            if option in found.maskings:
                table[code] = getattr(found.maskings[option], what)
        return table


def _used(blocks: CodeBlocks, options: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Per attribute the options that configurations use, in the order of the options."""
    return [
        tuple(option for option, is_used in zip(names, used, strict=True) if is_used)
        for names, used in zip(options, blocks.used(), strict=True)
    ]


def _rank(
    selected: Sequence[_Selected],
    assessments: Sequence[AttributeAssessment],
    blocks: CodeBlocks,
    question: Question,
) -> Ranking:
    tie_break = MEASURES["mutual_information"]
    counting = [found for found, weight in zip(assessments, question.weights, strict=True) if weight > 0]
    informed = assessments
    if (question.measure, question.reference, question.bias_correction) != (tie_break.id, "pooled", False):
        informed = [assess(one.evidence, one.reference, tie_break, one.used) for one in selected]
    return rank(
        blocks,
        deviations=_lookups(selected, assessments, "deviation", question.weights),
        tie_utilities=_lookups(selected, informed, "utility", question.weights),
        tolerance=TIE_TOLERANCE * max(abs(found.reference_utility) for found in counting),
        limit=question.limit,
    )


def _lookups(
    selected: Sequence[_Selected],
    assessments: Sequence[AttributeAssessment],
    what: Literal["deviation", "utility"],
    weights: FloatArray,
) -> list[FloatArray]:
    """Per attribute (options,), deviation or utility times the weight."""
    scored = zip(selected, assessments, weights, strict=True)
    return [weight * one.by_code(found, what) for one, found, weight in scored]


def _difference_vectors(
    selected: Sequence[_Selected], errors: Sequence[Errors], blocks: CodeBlocks, best: int, question: Question
) -> list[FloatArray] | None:
    """Per attribute (options, n), the weighted error vector of each option's deviation less that of the best.

    There is none for the reference `own`: its deviations are not those of a sample.
    """
    if question.reference == "own":
        return None
    parts = zip(selected, errors, question.weights, blocks.options_of(best), strict=True)
    return [weight * difference_errors(each, one.options, one.options[code]) for one, each, weight, code in parts]


def _ranked_rows(
    selected: Sequence[_Selected],
    assessments: Sequence[AttributeAssessment],
    moves: Sequence[FloatArray],
    blocks: CodeBlocks,
    ranking: Ranking,
    vectors: Sequence[FloatArray] | None,
    question: Question,
) -> RankedRows:
    rows = ranking.order
    weighted = [weight * each for weight, each in zip(question.weights, moves, strict=True)]
    return RankedRows(
        index=rows,
        deviation=ranking.deviations[rows],
        utility=blocks.sums(_lookups(selected, assessments, "utility", question.weights), rows),
        standard_error=standard_errors(blocks, weighted, rows),
        difference_error=np.full(rows.size, np.nan) if vectors is None else standard_errors(blocks, vectors, rows),
    )


def _indistinguishable(blocks: CodeBlocks, vectors: Sequence[FloatArray], ranking: Ranking) -> BoolArray:
    """Which configurations cannot be told from the best: a mask (configurations,)."""
    gaps = ranking.deviations - ranking.deviations.min()
    within = indistinguishable(blocks, vectors, gaps, ranking.tolerance)
    within[ranking.tied] = True
    return within


def _with_errors(one: _Selected, found: AttributeAssessment, moves: FloatArray) -> AttributeAssessment:
    """The same with the standard error of each masking's utility, from the vectors (options, n) of the options."""
    errors = dict(zip(one.options, np.linalg.norm(moves, axis=-1).tolist(), strict=True))
    maskings = {masking: replace(score, standard_error=errors[masking]) for masking, score in found.maskings.items()}
    return replace(found, maskings=maskings)


def _basis(weighted: Sequence[_Selected], measure: Measure, question: Question) -> RankingBasis:
    if question.reference == "own":  # no reference is common to the configurations
        return "estimated"
    return ranking_basis([one.evidence for one in weighted], measure, [one.used for one in weighted])
