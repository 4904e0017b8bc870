"""The verdict on what published counts disclose: pass or fail, with the place of every failure."""

from aegis_advisor.verdict.judge import judge
from aegis_advisor.verdict.labels import counted_apart, label_counts
from aegis_advisor.verdict.model import (
    LIKELY,
    SMALL,
    Finding,
    PublishedCounts,
    Reason,
    Releases,
    Verdict,
    largest_small,
)
from aegis_advisor.verdict.privacy_steps import Totals, label_totals, published_privacy
from aegis_advisor.verdict.shown import ENOUGH, spent_epsilon
from aegis_advisor.verdict.with_table import MaskedTable, ShownCounts, judge_with_table

__all__ = [
    "ENOUGH",
    "LIKELY",
    "SMALL",
    "Finding",
    "MaskedTable",
    "PublishedCounts",
    "Reason",
    "Releases",
    "ShownCounts",
    "Totals",
    "Verdict",
    "counted_apart",
    "judge",
    "judge_with_table",
    "label_counts",
    "label_totals",
    "largest_small",
    "published_privacy",
    "spent_epsilon",
]
