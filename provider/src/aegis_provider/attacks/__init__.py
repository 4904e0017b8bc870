"""Attacks on a release, generated or masked, by someone who knows real records in part or in full."""

from aegis_provider.attacks.case import Case
from aegis_provider.attacks.judging import ATTACKS, Judgement, judge
from aegis_provider.attacks.masked_by_plan import meanings_by_plan
from aegis_provider.attacks.opening import Opened, open_case
from aegis_provider.attacks.outcome import Outcome
from aegis_provider.attacks.released import Released

__all__ = ["ATTACKS", "Case", "Judgement", "Opened", "Outcome", "Released", "judge", "meanings_by_plan", "open_case"]
