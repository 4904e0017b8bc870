"""The whole question and the whole answer, as plain data that can be handed to another process."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from app.advisor.arrays import FloatArray, IntArray
from app.advisor.deviation import AttributeAssessment, assess
from app.advisor.errors import NoEvidenceError
from app.advisor.evidence import AttributeEvidence
from app.advisor.measures import MEASURES, Measure, measure_named
from app.advisor.own import assess_own
from app.advisor.ranking import Ranking, rank
from app.advisor.reconstruction import Reference
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

Codes = npt.NDArray[np.integer]


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """What a consumer asks of an entry.

    Attributes:
        measure: its id.
        attributes: the selected ones, in the order of the evidence.
        weights: (attributes,) non-negative, adding up to 1.
        reference: pooled, or own as published.
        rounding_seed: of the reference `own`; None does not round.
        limit: rows of the ranking; None for all.
    """

    measure: str
    attributes: tuple[str, ...]
    weights: FloatArray
    reference: Literal["pooled", "own"] = "pooled"
    rounding_seed: int | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class RankedRows:
    """The best configurations in order. Arrays are (rows,).

    Attributes:
        index: the configurations.
        deviation: weighted mean deviation of each.
        utility: weighted mean utility of each.
    """

    index: IntArray
    deviation: FloatArray
    utility: FloatArray

    def __len__(self) -> int:
        return self.index.size

    def __iter__(self) -> Iterator[tuple[int, float, float]]:
        return zip(self.index.tolist(), self.deviation.tolist(), self.utility.tolist(), strict=True)


@dataclass(frozen=True, slots=True, eq=False)
class Recommendation:
    """The answer. Configurations are indices of rows of the codes.

    Attributes:
        best: the configuration to share, the first of those tied.
        deviation: its weighted mean deviation.
        tied: all configurations of the smallest deviation, in order.
        considered: how many there were.
        ranking_basis: exact where the order is provably that of the true deviations, else estimated.
        ranking: the best rows, as many as were asked for.
        attributes: each selected attribute, measured, with the maskings that configurations use.
    """

    best: int
    deviation: float
    tied: tuple[int, ...]
    considered: int
    ranking_basis: RankingBasis
    ranking: RankedRows
    attributes: tuple[AttributeAssessment, ...]


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
        NoConfigurationError: there are no configurations.
        NoEvidenceError: an attribute with weight is treated differently, without evidence of what it tells.
        OwnReferenceError: the reference `own` lacks mapping or counts of a masking.
    """
    measure = measure_named(question.measure)
    selected = [
        _Selected(*parts, _used(codes[:, place], parts[2]))
        for place, parts in enumerate(zip(evidence, references, options, strict=True))
    ]
    weighted = [one for one, weight in zip(selected, question.weights, strict=True) if weight > 0]
    for one in weighted:
        if len(one.used) > 1 and lacks_evidence(one.evidence.flags):
            raise NoEvidenceError(one.evidence.name)
    assessments = [
        one.assess(measure, question, counts=weight > 0) for one, weight in zip(selected, question.weights, strict=True)
    ]
    ranking = _rank(selected, assessments, codes, question)
    return Recommendation(
        best=ranking.best,
        deviation=float(ranking.deviations[ranking.best]),
        tied=tuple(ranking.tied.tolist()),
        considered=codes.shape[0],
        ranking_basis=_basis(weighted, measure, question),
        ranking=RankedRows(ranking.order, ranking.deviations[ranking.order], ranking.utilities),
        attributes=tuple(assessments),
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

    def by_code(self, found: AttributeAssessment, what: Literal["deviation", "utility"]) -> FloatArray:
        """Deviation or utility by code (options,); options that no configuration uses are not a number."""
        table = np.full(len(self.options), np.nan)
        for code, option in enumerate(self.options):
            if option in found.maskings:
                table[code] = getattr(found.maskings[option], what)
        return table


def _used(column: Codes, options: tuple[str, ...]) -> tuple[str, ...]:
    """The options that configurations (configurations,) use, in the order of the options."""
    counts = np.bincount(column, minlength=len(options))
    return tuple(option for option, count in zip(options, counts, strict=True) if count)


def _rank(
    selected: Sequence[_Selected],
    assessments: Sequence[AttributeAssessment],
    codes: Codes,
    question: Question,
) -> Ranking:
    tie_break = MEASURES["mutual_information"]
    informed = assessments
    if (question.measure, question.reference) != (tie_break.id, "pooled"):
        informed = [assess(one.evidence, one.reference, tie_break, one.used) for one in selected]
    scored = list(zip(selected, assessments, strict=True))
    return rank(
        codes,
        deviations=[one.by_code(found, "deviation") for one, found in scored],
        utilities=[one.by_code(found, "utility") for one, found in scored],
        tie_utilities=[one.by_code(found, "utility") for one, found in zip(selected, informed, strict=True)],
        weights=question.weights,
        tolerance=TIE_TOLERANCE * max(abs(found.reference_utility) for found in assessments),
        limit=question.limit,
    )


def _basis(weighted: Sequence[_Selected], measure: Measure, question: Question) -> RankingBasis:
    if question.reference == "own":  # no reference is common to the configurations
        return "estimated"
    return ranking_basis([one.evidence for one in weighted], measure, [one.used for one in weighted])
