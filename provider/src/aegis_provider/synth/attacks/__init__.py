"""Attacks on a release, generated or masked, by someone who knows real records in part or in full."""

from aegis_provider.synth.attacks.case import Case
from aegis_provider.synth.attacks.declared import declared_attacks
from aegis_provider.synth.attacks.judging import ATTACKS, Judgement, Result, judge
from aegis_provider.synth.attacks.opening import Opened, case_by_plan, open_case
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
