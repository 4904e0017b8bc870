"""What equivalence classes reach of each criterion, and which of them break a promise."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from aegis_provider.privacy.classes import Classes
from aegis_provider.privacy.criteria import CRITERIA


def measured_names() -> tuple[str, ...]:
    """The criteria that a table shows whether it meets."""
    return tuple(name for name, each in CRITERIA.items() if each.is_measured)


def measure_privacy(classes: Classes, names: Sequence[str] | None = None) -> dict[str, int | float]:
    """The numbers by name that the classes reach: what the worst of them does.

    Only `k` without a sensitive attribute, and nothing without records.

    Args:
        classes: Those of a release.
        names: Of the criteria to measure; by default all.
    """
    if not len(classes):
        return {}
    chosen = CRITERIA if names is None else names
    return {name: CRITERIA[name].reached(classes) for name in chosen if CRITERIA[name].shows_in(classes)}


def breaks(classes: Classes, promise: Mapping[str, float]) -> NDArray[np.bool_]:
    """(classes,) which classes break a promise; `promise`: privacy by name.

    Nothing breaks what a table cannot show (`epsilon`), nor what would need a sensitive attribute where there is none.
    """
    broken = np.zeros(len(classes), dtype=np.bool_)
    for name, limit in promise.items():
        criterion = CRITERIA[name]
        if criterion.shows_in(classes):
            broken |= ~criterion.held(criterion.by_class(classes), limit)
    return broken


def holds(name: str, reached: float, limit: float) -> bool:
    """Whether a criterion that reaches this number keeps the promise `limit`; rounding breaks none."""
    return bool(CRITERIA[name].held(np.float64(reached), limit))
