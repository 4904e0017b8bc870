"""Sensitive values that a release makes certain, or easy to guess."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np

from aegis_provider.plan.model import Plan
from aegis_provider.privacy.classes import Classes
from aegis_sdk.reading import shown

CERTAIN_VALUES_REMEDY: Final = "Require l=2 if nobody should learn it"

SURE: Final = 0.95
"""Above this share of right guesses of a sensitive value, the records of a class are as good as told."""


def values_are_certain(privacy: Mapping[str, float]) -> bool:
    """Whether, by the measured privacy, all records of some class have the same sensitive value."""
    return privacy.get("l") == 1


def certain_values_warning(
    privacy: Mapping[str, float],
    plan: Plan,
    records: int | None = None,
    of: int | None = None,
    *,
    of_people: bool = False,
    by_label: Mapping[str, Mapping[str, float]] = MappingProxyType({}),
) -> str | None:
    """Return a sentence if all records of some class have the same sensitive value; `None` if not, or not measured.

    Args:
        privacy: The measured privacy by name.
        records: The number of records in such classes, if known.
        of: The number of all records, if known.
        of_people: Whether these numbers are of people, each once in every class with a record of theirs.
        by_label: With several labels, the same as `privacy` in the attack on each.
    """
    if not values_are_certain(privacy):
        return None
    safe = {label for label, each in by_label.items() if not values_are_certain(each)}
    sensitive = [name for name in plan.sensitive if name not in safe]
    whose = "the label" if sensitive == [plan.label] else "a sensitive value"
    names = " or ".join(map(shown, sensitive))
    unit = "people" if of_people else "records"
    if records is not None and records == of:
        return f"{whose} of everybody is certain: in each class all {unit} have the same {names} (l = 1)"
    where = "some classes" if records is None else f"classes with {records:,} {unit}"
    return f"{whose} of some people is certain: in {where} all {unit} have the same {names} (l = 1)"


def says_certain(warning: str) -> bool:
    """Whether a warning is that of `certain_values_warning`."""
    return "(l = 1)" in warning


def certain_and_guessable(attacks: Sequence[Classes]) -> tuple[int, int]:
    """Return the people in classes with one value of some sensitive attribute, and with over `SURE` of one value.

    `attacks`: The classes in the attack on each label; each number is that of the label of which most are known.
    """
    certain, sure = zip(*map(_certain_and_guessable, attacks), strict=True)
    return max(certain), max(sure)


def _certain_and_guessable(classes: Classes) -> tuple[int, int]:
    is_certain = np.zeros(len(classes), dtype=np.bool_)  # all people have one value of some sensitive attribute
    is_sure = is_certain.copy()
    for counts in classes.sensitive.values():
        is_certain[counts.classes[counts.counts == classes.sizes[counts.classes]]] = True
        is_sure[counts.classes[counts.counts > SURE * classes.sizes[counts.classes]]] = True
    return int(classes.sizes[is_certain].sum()), int(classes.sizes[is_sure].sum())
