"""Attacks on a release, generated or masked, by someone who knows real records in part or in full."""

from aegis_provider.attacks.case import Case
from aegis_provider.attacks.judging import ATTACKS, Judgement, judge
from aegis_provider.attacks.opening import Opened, open_case
from aegis_provider.attacks.outcome import Outcome

__all__ = ["ATTACKS", "Case", "Judgement", "Opened", "Outcome", "judge", "open_case"]
