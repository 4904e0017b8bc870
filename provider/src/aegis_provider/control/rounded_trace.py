"""The trace of the unmasked table, rounded so that it tells next to nothing of a few people."""

import math
from typing import Any, Final

from aegis_sdk.wire import EntryDocument, JointTrace

_RECORDS: Final = 10
"""The step is at least the share of this many records: what a group of that size could explain of the label."""

_FINEST: Final = 0.001
"""More digits than these change no decision."""


def rounded_trace(entry: EntryDocument) -> dict[str, Any]:
    """Return the fields that change if the entry's trace is rounded; none if it has none."""
    if entry.joint_trace is None:
        return {}
    step = step_for(entry.records)
    # Dividing by a whole number gives the nearest decimal fraction.
    value = round(round(entry.joint_trace.value / step) * step, 6)
    return {"joint_trace": JointTrace(value=value, rounded_to=step)}


def step_for(records: int) -> float:
    """Return the step for a table of this size: the smallest of 0.001, 0.002, 0.005 and so on that is coarse enough."""
    least = max(_FINEST, _RECORDS / records)
    power = 10.0 ** math.floor(math.log10(least))
    steps = (round(factor * power, 6) for factor in (1, 2, 5, 10))
    return next(step for step in steps if step >= least * (1 - 1e-9))
