"""From configurations to the best: what each loses, their order, ties, how exact it is, and how certain."""

from aegis_advisor.ranking.advice import recommend
from aegis_advisor.ranking.deviation import AttributeAssessment, assess
from aegis_advisor.ranking.recommendation import JointAssessment, Question, RankedRows, Recommendation
from aegis_advisor.ranking.sufficiency import lacks_evidence, lacks_own_reference

__all__ = [
    "AttributeAssessment",
    "JointAssessment",
    "Question",
    "RankedRows",
    "Recommendation",
    "assess",
    "lacks_evidence",
    "lacks_own_reference",
    "recommend",
]
