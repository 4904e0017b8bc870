"""The trace of the unmasked table, rounded so that it tells next to nothing of a few people."""

import math
from collections.abc import Sequence
from typing import Any, Final

from aegis_sdk.wire import EntryDocument, JointTrace

_RECORDS: Final = 10
"""The step is at least the share of this many records: what a group of that size could explain of the label."""

_FINEST: Final = 0.001
"""More digits than these change no decision."""


_PARTS: Final = 10
"""The records of a base beside those of the rarest label value count a tenth (`rounded_trace`)."""


def rounded_trace(entry: EntryDocument, label: Sequence[int], base: int) -> dict[str, Any]:
    """Return the fields that change if the entry's trace is rounded; none if it has none.

    Of a label value with `m` records, `x` of them in a group of `n`, one record more moves the trace by about
    `(2 x + 1) / (m n)`, and groups have at least 20. So a step of `base / (10 m)` hides as many records as the base
    does where few of a group have the value. Where most have it, the trace can tell them (docs/security.md).

    Args:
        entry: The entry.
        label: The published records of each label value.
        base: The base by which other counts are rounded.
    """
    if entry.joint_trace is None:
        return {}
    rarest = max(1, min(label) - base + 1)  # at least so many: what is published as 3 may be 1
    step = step_for(entry.records, base / (_PARTS * rarest))
    # Dividing by a whole number gives the nearest decimal fraction.
    value = round(round(entry.joint_trace.value / step) * step, 6)
    return {"joint_trace": JointTrace(value=value, rounded_to=step)}


def step_for(records: int, at_least: float = 0.0) -> float:
    """Return the step for a table of this size: the smallest of 0.001, 0.002, 0.005 and so on that is coarse enough."""
    least = max(_FINEST, _RECORDS / records, at_least)
    power = 10.0 ** math.floor(math.log10(least))
    steps = (round(factor * power, 6) for factor in (1, 2, 5, 10))
    return next(step for step in steps if step >= least * (1 - 1e-9))
