"""The verdict on what published counts give away: pass or fail, with the place of everything that fails."""

from aegis_advisor.verdict.judge import judge
from aegis_advisor.verdict.model import LIKELY, SMALL, Finding, PublishedCounts, Reason, Releases, Verdict
from aegis_advisor.verdict.noisy import ENOUGH, spent_epsilon

__all__ = [
    "ENOUGH",
    "LIKELY",
    "SMALL",
    "Finding",
    "PublishedCounts",
    "Reason",
    "Releases",
    "Verdict",
    "judge",
    "spent_epsilon",
]
