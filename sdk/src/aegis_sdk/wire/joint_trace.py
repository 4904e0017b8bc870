"""The trace of the unmasked table: how much there is to keep, in the unit of the measure `joint`."""

from collections.abc import Iterator
from math import isfinite

from pydantic import ConfigDict, Field

from aegis_sdk.wire.disclosure_control import DisclosureControl
from aegis_sdk.wire.documents import Request
from aegis_sdk.wire.examples import EXAMPLE_JOINT_TRACE
from aegis_sdk.wire.faults import Fault
from aegis_sdk.wire.values import Number, PositiveNumber

_NEARLY = 1e-6
"""Multiples of a decimal fraction are not exact in binary."""


class JointTrace(Request):
    """What all unmasked attributes tell of the label together. One number, for the provider and the service alone."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_JOINT_TRACE]})

    value: Number = Field(
        description="Pillai's trace of all unmasked attributes and the label, adjusted for the number of values (the "
        "measure `joint` with its default correction), not below 0 nor below that of a single attribute. Rare values "
        "may be merged first, but not as any configuration does"
    )
    rounded_to: PositiveNumber | None = Field(
        default=None, description="The value was rounded to a multiple of this; null: it is exact"
    )


def trace_faults(trace: JointTrace | None, control: DisclosureControl | None) -> Iterator[Fault]:
    """The faults of a trace that is no multiple of its base, or lacks a control that was applied to all counts."""
    if trace is None:
        return
    if trace.rounded_to is not None and not is_multiple(trace.value, trace.rounded_to):
        yield ("value",), f"Is no multiple of {trace.rounded_to:g} (`rounded_to`)"
    if control is None:
        return
    if control.epsilon is not None:
        yield (), "Was computed from exact counts, which `disclosure_control` says noise covers: leave it out"
    elif trace.rounded_to is None and (control.rounded_to is not None or control.min_cell is not None):
        yield ("rounded_to",), "This number is exact, but `disclosure_control` says all were changed: round it"


def is_multiple(number: float, base: float) -> bool:
    """Whether a number was rounded to a multiple of a base, which may be so small that nobody could tell."""
    multiple = number / base
    return isfinite(multiple) and abs(multiple - round(multiple)) <= _NEARLY * max(1.0, abs(multiple))
