"""What configurations lose: attribute by attribute, or all attributes together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from app.advisor.arrays import FloatArray, IntArray
from app.advisor.blocks import CodeBlocks, Codes
from app.advisor.deviation import AttributeAssessment
from app.advisor.evidence import PairCounts
from app.advisor.joint import JointScores, score_jointly
from app.advisor.recommendation import JointFinding, Question
from app.advisor.selected import Selected
from app.advisor.sufficiency import RankingBasis


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """The attributes together: what deviations are measured from, and the scores."""

    reference_utility: float
    scores: JointScores

    def finding(self, best: int, basis: RankingBasis) -> JointFinding:
        """What was found, given the best configuration and what the ranking is worth."""
        bound = self.scores.best_known if basis == "exact" else None
        return JointFinding(self.reference_utility, bound, int(self.scores.dimensions[best]))


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """What configurations lose and keep.

    Attributes:
        deviations: (configurations,).
        utilities: gives those of configurations (rows,).
        largest: the largest reference utility, in absolute value: what is a tie is relative to it.
        together: of the attributes together; None where each is scored by itself.
    """

    deviations: FloatArray
    utilities: Callable[[IntArray], FloatArray]
    largest: float
    together: Together | None = None


def score_alone(
    selected: Sequence[Selected], assessments: Sequence[AttributeAssessment], blocks: CodeBlocks, weights: FloatArray
) -> Scores:
    """Weighted means over the attributes (paper, equation 1)."""
    counting = [found for found, weight in zip(assessments, weights, strict=True) if weight > 0]
    return Scores(
        deviations=blocks.sums(lookups(selected, assessments, "deviation", weights)),
        utilities=lambda rows: blocks.sums(lookups(selected, assessments, "utility", weights), rows),
        largest=max(abs(found.reference_utility) for found in counting),
    )


def score_together(
    selected: Sequence[Selected],
    assessments: Sequence[AttributeAssessment],
    codes: Codes,
    pairs: Sequence[PairCounts],
    question: Question,
) -> Scores:
    """A joint measure of the attributes with weight, which all have the same.

    Deviations are from the most utility that is known to be there: of any configuration, of the finest maskings
    together, or of a single attribute's reference.

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
    )
    reference = max(found.best_known, *(assessments[place].reference_utility for place in places))
    together = Together(reference, found)
    return Scores(reference - found.utility, lambda rows: found.utility[rows], abs(reference), together)


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
