"""A release in which some people's sensitive values are certain: a warning, never a promise."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from aegis_provider.plan.model import Plan
from aegis_provider.privacy.classes import Classes
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


def records_with_certain_values(classes: Classes) -> int:
    """Count the records in classes that all have the same value of some sensitive attribute."""
    certain = np.zeros(len(classes), dtype=np.bool_)
    for each in classes.sensitive.values():
        certain |= np.bincount(each.classes, minlength=len(classes)) == 1
    return int(classes.sizes[certain].sum())


def certain_values_warning(
    privacy: Mapping[str, float], plan: Plan, records: int | None = None, of: int | None = None
) -> str | None:
    """Return a sentence if all records of some class have the same sensitive value; `None` if not, or not measured.

    Args:
        privacy: The measured privacy by name.
        plan: The plan.
        records: How many records are in such classes, if that is known.
        of: How many records there are, if that is known.
    """
    if not values_are_certain(privacy):
        return None
    whose = "the label" if plan.sensitive == (plan.label,) else "a sensitive value"
    names = " or ".join(map(shown, plan.sensitive))
    if records is not None and records == of:
        return f"{whose} of everybody is certain: in each class all records have the same {names} (l = 1)"
    where = "some classes" if records is None else f"classes with {records:,} records"
    return f"{whose} of some people is certain: in {where} all records have the same {names} (l = 1)"
