"""Ranking of configurations: what each loses, their order and ties, and how exact and certain the order is."""

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
