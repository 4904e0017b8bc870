"""Joint scores of configurations over all their attributes, from pair counts of masked attributes."""

from aegis_advisor.joint.design import Estimate
from aegis_advisor.joint.faults import find_association_faults, find_trace_faults, largest_part
from aegis_advisor.joint.scores import JointScores, is_counted_function, score_jointly

__all__ = [
    "Estimate",
    "JointScores",
    "find_association_faults",
    "find_trace_faults",
    "is_counted_function",
    "largest_part",
    "score_jointly",
]
