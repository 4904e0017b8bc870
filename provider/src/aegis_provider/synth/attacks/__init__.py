"""Attacks on a release, generated or masked, by an attacker who knows real records in part or in full."""

from aegis_provider.synth.attacks.case import Case, Opened, case_by_plan, open_case
from aegis_provider.synth.attacks.judging import ATTACKS, Judgement, Result, declared_attacks, judge
from aegis_provider.synth.attacks.outcome import Outcome

__all__ = [
    "ATTACKS",
    "Case",
    "Judgement",
    "Opened",
    "Outcome",
    "Result",
    "case_by_plan",
    "declared_attacks",
    "judge",
    "open_case",
]
