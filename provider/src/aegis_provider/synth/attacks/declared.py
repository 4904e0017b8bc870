"""The attacks that an entry can declare, by their names in the contract."""

from collections.abc import Mapping
from math import ceil, floor
from typing import Final

from aegis_provider.plan.generated import Attacked
from aegis_provider.synth.attacks.attribute_disclosure import attribute_disclosure
from aegis_provider.synth.attacks.case import Case
from aegis_provider.synth.attacks.membership import nearest_membership
from aegis_provider.synth.attacks.outcome import Outcome
from aegis_provider.synth.attacks.reidentification import reidentification

_PARTS: Final = 1_000


def declared_attacks(case: Case) -> dict[str, Attacked]:
    """Try the attacks that an entry can declare; but those that cannot: none can if too much is not understood.

    `reidentification` is by someone who knows half of the quasi-identifiers, `attribute_disclosure` by the number of
    neighbours that serves the attacker best, and `membership` by the nearest record.
    """
    if case.release.not_judged or case.release.not_read:
        return {}
    known = len(case.quasi_identifiers) // 2
    tried: Mapping[str, Outcome | None] = {
        "reidentification": next(reidentification(case, known=known)) if known else None,
        "attribute_disclosure": max(attribute_disclosure(case), key=lambda each: each.success.high, default=None)
        if case.secrets and case.quasi_identifiers
        else None,
        "membership": next(nearest_membership(case)) if len(case.held_out) else None,
    }
    return {name: _attacked(outcome) for name, outcome in tried.items() if outcome is not None}


def _attacked(outcome: Outcome) -> Attacked:
    success = outcome.success
    low, high = floor(success.low * _PARTS) / _PARTS, ceil(success.high * _PARTS) / _PARTS
    return Attacked(round(success.value, 3), max(0.0, low), min(1.0, high), round(outcome.baseline.value, 3))
