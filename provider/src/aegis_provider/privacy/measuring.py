"""The privacy that equivalence classes reach by each criterion, and the classes that break a promise."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from aegis_provider.privacy.classes import Classes
from aegis_provider.privacy.criteria import CRITERIA


def measured_names() -> tuple[str, ...]:
    """Return the names of the criteria that can be measured in a table."""
    return tuple(name for name, each in CRITERIA.items() if each.is_measured)


def measure_privacy(classes: Classes, names: Sequence[str] | None = None) -> dict[str, int | float]:
    """Return the numbers that the classes reach, by name: those of the worst class.

    Without a sensitive attribute, only `k` is measured. Without records, nothing is.

    Args:
        classes: The classes of a release.
        names: The names of the criteria to measure; by default all.
    """
    if not len(classes):
        return {}
    chosen = CRITERIA if names is None else names
    return {name: CRITERIA[name].reached(classes) for name in chosen if CRITERIA[name].shows_in(classes)}


def breaks(classes: Classes, promise: Mapping[str, float]) -> NDArray[np.bool_]:
    """Return (classes,) which classes break a promise; `promise`: privacy by name.

    Nothing breaks a promise that a table cannot show (`epsilon`), or one that needs a sensitive attribute when there
    is none.
    """
    broken = np.zeros(len(classes), dtype=np.bool_)
    for name, limit in promise.items():
        criterion = CRITERIA[name]
        if criterion.shows_in(classes):
            broken |= ~criterion.held(criterion.by_class(classes), limit)
    return broken


def holds(name: str, reached: float, limit: float) -> bool:
    """Return whether a criterion that reaches this number keeps the promise `limit`; rounding breaks none."""
    return bool(CRITERIA[name].held(np.float64(reached), limit))
