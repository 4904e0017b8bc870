"""The verdict on what published counts give away: pass or fail, with the place of everything that fails."""

from aegis_advisor.verdict.judge import judge
from aegis_advisor.verdict.model import LIKELY, SMALL, Finding, PublishedCounts, Reason, Releases, Verdict

__all__ = ["LIKELY", "SMALL", "Finding", "PublishedCounts", "Reason", "Releases", "Verdict", "judge"]
