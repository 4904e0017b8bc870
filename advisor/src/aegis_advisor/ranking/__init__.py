"""Ranking of configurations: their losses, order and ties, and the exactness and certainty of the order."""

from aegis_advisor.ranking.advice import MOST_LISTED, recommend
from aegis_advisor.ranking.declared import (
    DeclaredRanking,
    DeclaredUtilities,
    kept_shares,
    ordered,
    rank_declared,
)
from aegis_advisor.ranking.deviation import AttributeAssessment, assess
from aegis_advisor.ranking.memory import Memory
from aegis_advisor.ranking.recommendation import JointAssessment, Question, RankedRows, Recommendation
from aegis_advisor.ranking.sufficiency import lacks_evidence, lacks_own_reference

__all__ = [
    "MOST_LISTED",
    "AttributeAssessment",
    "DeclaredRanking",
    "DeclaredUtilities",
    "JointAssessment",
    "Memory",
    "Question",
    "RankedRows",
    "Recommendation",
    "assess",
    "kept_shares",
    "lacks_evidence",
    "lacks_own_reference",
    "ordered",
    "rank_declared",
    "recommend",
]
