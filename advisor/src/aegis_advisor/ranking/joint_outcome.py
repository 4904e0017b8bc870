"""The result of a joint measure, and its reference utility."""

from dataclasses import dataclass

from aegis_advisor.evidence import PublishedTrace
from aegis_advisor.joint import JointScores
from aegis_advisor.ranking.recommendation import JointAssessment, ReferenceSource
from aegis_advisor.ranking.sufficiency import RankingBasis

SLACK = 1e-9
"""The published trace and the utilities are computed from the same counts, in another order."""


@dataclass(frozen=True, slots=True, eq=False)
class JointOutcome:
    """The result of a joint measure for the configurations.

    Attributes:
        reference_utility: the utility relative to which deviations are measured.
        known_utility: the highest utility that is known or estimated from counts.
        certain: a lower bound of the true utility, which is certain if the scores are.
        scores: the scores of the configurations.
        source: the origin of the reference utility.
    """

    reference_utility: float
    known_utility: float
    certain: float
    scores: JointScores
    source: ReferenceSource = "known"

    def assessment(self, best: int, basis: RankingBasis) -> JointAssessment:
        """The joint assessment, given the best configuration and the basis of the ranking."""
        bound = self.certain if basis == "exact" else None
        added = self.scores.interactions
        interactions = None if added is None else float(added[best])
        return JointAssessment(
            reference_utility=self.reference_utility,
            lower_bound=bound,
            dimensions=int(self.scores.dimensions[best]),
            interactions=interactions,
            known_utility=self.known_utility,
            reference_source=self.source,
        )


def reference_of(
    known: float, published: PublishedTrace | None, *, interactions: bool
) -> tuple[float, ReferenceSource]:
    """The reference utility, and its origin.

    A published trace is the joint utility of the unmasked table, unless counts show more than its rounding explains or
    the measure also sees interactions, which the trace does not contain. Even then it is a lower bound.

    Args:
        known: the highest utility that is known or estimated from counts.
        published: the adjusted trace of the unmasked table, for questions about all of its attributes.
        interactions: whether the measure sees interactions.
    """
    if published is None:
        return known, "known"
    is_whole = not interactions and known <= published.most + SLACK
    return max(known, published.value), "published" if is_whole else "known"
