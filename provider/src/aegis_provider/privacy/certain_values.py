"""A release in which some people's sensitive values are certain: a warning, never a promise."""

from collections.abc import Mapping
from typing import Final

from aegis_provider.plan.model import Plan
from aegis_sdk.reading import shown

TRIVIAL: Final[Mapping[str, float]] = {"k": 1, "l": 1, "entropy_l": 1, "t": 1, "ordered_t": 1, "alpha": 1}
"""The number of each criterion that every table reaches, so that it promises nothing."""

CERTAIN_VALUES_REMEDY: Final = "Require l=2 if nobody should learn it"

_ROUNDING = 1e-9


def promises_nothing(name: str, number: float) -> bool:
    """Whether every table reaches this number of a criterion."""
    return name in TRIVIAL and abs(number - TRIVIAL[name]) <= _ROUNDING


def values_are_certain(privacy: Mapping[str, float]) -> bool:
    """Whether all records of some class have the same sensitive value, by the measured privacy."""
    return privacy.get("l") == 1


def certain_values_warning(privacy: Mapping[str, float], plan: Plan) -> str | None:
    """Return a sentence if all records of some class have the same sensitive value; `None` if not, or not measured."""
    if not values_are_certain(privacy):
        return None
    whose = "the label" if plan.sensitive == (plan.label,) else "a sensitive value"
    names = " or ".join(map(shown, plan.sensitive))
    return f"{whose} of some people is certain: in some classes all records have the same {names} (l = 1)"
