"""Configurations scored by all of their attributes together, from counts of pairs of masked attributes."""

from aegis_advisor.joint.scores import JointScores, is_counted_function, score_jointly

__all__ = ["JointScores", "is_counted_function", "score_jointly"]
