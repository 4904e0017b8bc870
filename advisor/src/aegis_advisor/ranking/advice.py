"""Answers a question: measures each attribute, ranks configurations, and assesses the reliability of the order."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Self

import numpy as np

from aegis_advisor.arrays import BoolArray, Codes, FloatArray, IntArray
from aegis_advisor.errors import NoConfigurationError, NoEvidenceError
from aegis_advisor.evidence import AttributeEvidence, PairAssociation, PairCounts, PublishedTrace
from aegis_advisor.measures import TIE_BREAK, Measure
from aegis_advisor.ranking.deviation import AttributeAssessment
from aegis_advisor.ranking.order import CodeBlocks, Ranking, rank
from aegis_advisor.ranking.recommendation import (
    Question,
    RankedRows,
    RankingBasis,
    Recommendation,
    joint_ranking_basis,
    lacks_evidence,
    ranking_basis,
)
from aegis_advisor.ranking.scores import (
    KnownPairs,
    Memory,
    SampledAttribute,
    Scores,
    Selected,
    lookups,
    score_by_attribute,
    score_by_joint_measure,
)
from aegis_advisor.ranking.standard_errors import indistinguishable, standard_errors
from aegis_advisor.reconstruction import Reference

MOST_LISTED = 10_000
"""The most indistinguishable configurations to list. Half of a million may be as good as the best."""


def recommend(
    evidence: Sequence[AttributeEvidence],
    references: Sequence[Reference],
    codes: Codes,
    options: Sequence[tuple[str, ...]],
    question: Question,
    pairs: Sequence[PairCounts] = (),
    others: Codes | None = None,
    memory: Memory | None = None,
    associations: Sequence[PairAssociation] = (),
    published: PublishedTrace | None = None,
) -> Recommendation:
    """Pick the configuration that loses the least utility.

    Args:
        evidence: the evidence on the selected attributes, in the question's order.
        references: their references (`reconstruct`), in the same order.
        codes: (configurations, attributes) indices into the attribute's options.
        options: per attribute, the masking ids, `identity` and `drop` that codes stand for.
        question: the question to answer.
        pairs: pair counts of the selected attributes; joint measures need them.
        others: codes of configurations that the question excludes. For a joint measure they also show how much utility
            there is to lose.
        memory: cached results of other questions about the same evidence and references.
        associations: associations of pairs of the selected attributes with the label; measures of interactions need
            them.
        published: the adjusted trace of the unmasked table; only if the question is about all attributes of the entry.

    Raises:
        UnknownMeasureError: there is no such measure.
        ValueError: the bias of the measure is to be corrected but is not known, or a joint measure has unequal weights.
        NoConfigurationError: there are no configurations.
        NoEvidenceError: configurations treat an attribute with weight differently, without evidence on it.
        OwnReferenceError: the reference `own` lacks the mapping or the counts of a masking.
        MissingCountsError: a joint measure lacks the joint counts of a masking with the label.
        MissingPairsError: a joint measure lacks pair counts of maskings that a configuration uses.
        MissingAssociationsError: a measure of interactions lacks the association of two such maskings with the label.
        ContradictoryPairsError: no table has these pair counts.
        TooManyColumnsError: the maskings used have too many masked values for a joint measure.
    """
    measure = question.resolve(evidence[0].label_scores if evidence else None)
    if codes.shape[0] == 0:
        raise NoConfigurationError
    blocks = CodeBlocks.of(codes, [len(names) for names in options])
    selected = Selected.all_of(evidence, references, options, blocks, memory or Memory())
    weighted = [one for one, weight in zip(selected, question.weights, strict=True) if weight > 0]
    for one in weighted:
        if len(one.used) > 1 and lacks_evidence(one.evidence.flags) and not one.evidence.blocks:
            raise NoEvidenceError(one.evidence.name)
    assessments = [
        one.assess(measure, question, counts=weight > 0) for one, weight in zip(selected, question.weights, strict=True)
    ]
    if measure.is_joint and len(weighted) > 1:
        known = KnownPairs(pairs, associations)
        scores = score_by_joint_measure(selected, assessments, codes, known, others, question, published)
    else:
        scores = score_by_attribute(selected, assessments, blocks, measure, question.weights)
    ranking = _rank(selected, assessments, blocks, scores, question)
    sampling = _Sampling.of(selected, assessments, measure, blocks, ranking, scores, question)
    within = sampling.indistinguishable(blocks, ranking)
    basis = _basis(weighted, measure, scores, question)
    return Recommendation(
        best=ranking.best,
        deviation=float(ranking.deviations[ranking.best]),
        tied=tuple(ranking.tied.tolist()),
        considered=len(blocks),
        ranking_basis=basis,
        ranking=RankedRows(
            index=ranking.order,
            deviation=ranking.deviations[ranking.order],
            utility=scores.utilities(ranking.order),
            standard_error=(
                sampling.errors(sampling.moves, blocks, ranking.order)
                if scores.joint is None
                else scores.joint.scores.errors(ranking.order, wanted=question.has_errors)
            ),
            difference_error=sampling.errors(sampling.differences, blocks, ranking.order),
        ),
        attributes=sampling.described(assessments),
        indistinguishable=None if within is None else ranking.in_order(within, MOST_LISTED),
        indistinguishable_count=None if within is None else int(within.sum()),
        joint=None if scores.joint is None else scores.joint.assessment(ranking.best, basis),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Sampling:
    """Sampling errors, since the records are a sample: error vectors (options, n) per attribute.

    Attributes:
        attributes: the errors of each attribute; None if the measure has no standard errors.
        moves: the vectors of the utility of each masking, times the weight; None if utilities of configurations are not
            sums.
        differences: the vectors of each deviation minus that of the best, times the weight; None if they are not known.
        biases: per attribute (options,), the expected contribution of chance and inexact counts to these differences,
            times the weight.
    """

    attributes: list[SampledAttribute] | None = None
    moves: list[FloatArray] | None = None
    differences: list[FloatArray] | None = None
    biases: list[FloatArray] | None = None

    @classmethod
    def of(
        cls,
        selected: Sequence[Selected],
        assessments: Sequence[AttributeAssessment],
        measure: Measure,
        blocks: CodeBlocks,
        ranking: Ranking,
        scores: Scores,
        question: Question,
    ) -> Self:
        """Return the sampling errors of an answer.

        Deviations by the reference `own` have no sampling error. Pair counts do not determine the sampling error of a
        trace.
        """
        if not measure.has_errors:
            return cls()
        attributes = [one.sampling(measure, assessment) for one, assessment in zip(selected, assessments, strict=True)]
        if scores.joint is not None:
            return cls(attributes)
        moves = [weight * one.moves for weight, one in zip(question.weights, attributes, strict=True)]
        if question.reference == "own":
            return cls(attributes, moves)
        best = _options(selected, blocks, ranking.best)
        against = [one.against(option) for one, option in zip(attributes, best, strict=True)]
        differences = [weight * vectors for weight, (vectors, _) in zip(question.weights, against, strict=True)]
        biases = [weight * each for weight, (_, each) in zip(question.weights, against, strict=True)]
        return cls(attributes, moves, differences, biases)

    def described(self, assessments: Sequence[AttributeAssessment]) -> tuple[AttributeAssessment, ...]:
        """The assessments with the errors of each masking's utility, if there are any."""
        return tuple(assessments if self.attributes is None else (one.assessment for one in self.attributes))

    @staticmethod
    def errors(vectors: Sequence[FloatArray] | None, blocks: CodeBlocks, rows: IntArray) -> FloatArray:
        """The standard errors (rows,) of configurations; NaN if they are not known."""
        return np.full(rows.size, np.nan) if vectors is None else standard_errors(blocks, vectors, rows)

    def indistinguishable(self, blocks: CodeBlocks, ranking: Ranking) -> BoolArray | None:
        """A mask (configurations,) of those indistinguishable from the best; None if unknown."""
        if self.differences is None or self.biases is None:
            return None
        gaps = ranking.deviations - ranking.deviations[ranking.best] - blocks.sums(self.biases)
        within = indistinguishable(blocks, self.differences, gaps, ranking.tolerance)
        within[ranking.tied] = True
        return within


def _rank(
    selected: Sequence[Selected],
    assessments: Sequence[AttributeAssessment],
    blocks: CodeBlocks,
    scores: Scores,
    question: Question,
) -> Ranking:
    is_tie_break = (question.measure, question.reference, question.bias_correction) == (TIE_BREAK.id, "pooled", False)

    @cache
    def tie_utilities() -> list[FloatArray]:
        informed = assessments if is_tie_break else [one.assess_pooled(TIE_BREAK) for one in selected]
        return lookups(selected, informed, "utility", question.weights)

    return rank(
        blocks,
        deviations=scores.deviations,
        tie_utilities=tie_utilities,
        tolerance=scores.tolerance,
        limit=question.limit,
    )


def _options(selected: Sequence[Selected], blocks: CodeBlocks, configuration: int) -> list[str]:
    """The option of each attribute in a configuration."""
    codes = zip(selected, blocks.options_of(configuration), strict=True)
    return [one.options[code] for one, code in codes]


def _basis(weighted: Sequence[Selected], measure: Measure, scores: Scores, question: Question) -> RankingBasis:
    if question.reference == "own":  # configurations share no reference
        return "estimated"
    evidence, used = [one.evidence for one in weighted], [one.used for one in weighted]
    if scores.joint is None:
        return ranking_basis(evidence, measure, used)
    return joint_ranking_basis(evidence, measure, used, exactly=scores.joint.scores.doubt <= scores.tolerance)
