"""What configurations lose: attribute by attribute, or all attributes together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.blocks import CodeBlocks, Codes
from aegis_advisor.deviation import AttributeAssessment
from aegis_advisor.evidence import PairCounts
from aegis_advisor.joint import JointScores, score_jointly
from aegis_advisor.recommendation import JointFinding, Question
from aegis_advisor.selected import Selected
from aegis_advisor.sufficiency import RankingBasis

TIE_TOLERANCE = 1e-9
"""Deviations this close, relative to the largest reference utility, are a tie (contract, advice)."""

LEAST = 1e-3
"""A joint measure is of order 1; of what is much smaller, differences in the last digits are rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """The attributes together.

    Attributes:
        reference_utility: what deviations are measured from.
        certain: the most that is certain to be there, if the scores are.
        scores: of the configurations.
    """

    reference_utility: float
    certain: float
    scores: JointScores

    def finding(self, best: int, basis: RankingBasis) -> JointFinding:
        """What was found, given the best configuration and what the ranking is worth."""
        bound = self.certain if basis == "exact" else None
        return JointFinding(self.reference_utility, bound, int(self.scores.dimensions[best]))


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """What configurations lose and keep.

    Attributes:
        deviations: (configurations,).
        utilities: gives those of configurations (rows,).
        tolerance: deviations this close are a tie.
        together: of the attributes together; None where each is scored by itself.
    """

    deviations: FloatArray
    utilities: Callable[[IntArray], FloatArray]
    tolerance: float
    together: Together | None = None


def score_alone(
    selected: Sequence[Selected], assessments: Sequence[AttributeAssessment], blocks: CodeBlocks, weights: FloatArray
) -> Scores:
    """Weighted means over the attributes (paper, equation 1)."""
    counting = [found for found, weight in zip(assessments, weights, strict=True) if weight > 0]
    return Scores(
        deviations=blocks.sums(lookups(selected, assessments, "deviation", weights)),
        utilities=lambda rows: blocks.sums(lookups(selected, assessments, "utility", weights), rows),
        tolerance=TIE_TOLERANCE * max(abs(found.reference_utility) for found in counting),
    )


def score_together(
    selected: Sequence[Selected],
    assessments: Sequence[AttributeAssessment],
    codes: Codes,
    pairs: Sequence[PairCounts],
    others: Codes | None,
    question: Question,
) -> Scores:
    """A joint measure of the attributes with weight, which all have the same.

    Deviations are from the most utility that is known of: of any configuration, be it among those asked about or
    `others`, or of a single attribute's reference, which may be an estimate.

    Raises:
        ValueError: the weights differ.
    """
    places = np.flatnonzero(question.weights).tolist()
    if np.ptp(question.weights[places]) > 0:
        raise ValueError("a joint measure does not weigh attributes against each other")
    found = score_jointly(
        [selected[place].evidence for place in places],
        [selected[place].options for place in places],
        codes[:, places],
        _among(pairs, places),
        corrected=question.bias_correction,
        others=None if others is None else others[:, places],
    )
    alone = [assessments[place] for place in places]
    reference = max([found.best_known, *(one.reference_utility for one in alone)])
    certain = max([found.best_known, *(one.lower_bound for one in alone if one.lower_bound is not None)])
    return Scores(
        deviations=reference - found.utility,
        utilities=lambda rows: found.utility[rows],
        tolerance=TIE_TOLERANCE * max(abs(reference), LEAST),
        together=Together(reference, certain, found),
    )


def _among(pairs: Sequence[PairCounts], places: Sequence[int]) -> list[PairCounts]:
    """Those of two attributes at these places, which are numbered anew."""
    position = {place: index for index, place in enumerate(places)}
    return [
        PairCounts((position[pair.attributes[0]], position[pair.attributes[1]]), pair.maskings, pair.joint)
        for pair in pairs
        if position.keys() >= set(pair.attributes)
    ]


def lookups(
    selected: Sequence[Selected],
    assessments: Sequence[AttributeAssessment],
    what: Literal["deviation", "utility"],
    weights: FloatArray,
) -> list[FloatArray]:
    """Per attribute (options,), deviation or utility times the weight."""
    scored = zip(selected, assessments, weights, strict=True)
    return [weight * one.by_code(found, what) for one, found, weight in scored]
