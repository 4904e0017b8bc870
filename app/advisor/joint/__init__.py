"""Configurations scored by all of their attributes together, from counts of pairs of masked attributes."""

from app.advisor.joint.scores import JointScores, score_jointly

__all__ = ["JointScores", "score_jointly"]
