"""Ranking of configurations: their losses, order and ties, and the exactness and certainty of the order."""

from aegis_advisor.ranking.advice import MOST_LISTED, recommend
from aegis_advisor.ranking.deviation import AttributeAssessment, assess
from aegis_advisor.ranking.expected import expected_performance
from aegis_advisor.ranking.masked_label import LabelChoices, recommend_among_labels
from aegis_advisor.ranking.order import (
    DeclaredRanking,
    DeclaredUtilities,
    kept_shares,
    ordered,
    rank_declared,
)
from aegis_advisor.ranking.recommendation import (
    JointAssessment,
    Question,
    RankedRows,
    Recommendation,
    lacks_evidence,
    lacks_own_reference,
)
from aegis_advisor.ranking.scores import Memory
from aegis_advisor.ranking.unbeaten import knee, unbeaten

__all__ = [
    "MOST_LISTED",
    "AttributeAssessment",
    "DeclaredRanking",
    "DeclaredUtilities",
    "JointAssessment",
    "LabelChoices",
    "Memory",
    "Question",
    "RankedRows",
    "Recommendation",
    "assess",
    "expected_performance",
    "kept_shares",
    "knee",
    "lacks_evidence",
    "lacks_own_reference",
    "ordered",
    "rank_declared",
    "recommend",
    "recommend_among_labels",
    "unbeaten",
]
