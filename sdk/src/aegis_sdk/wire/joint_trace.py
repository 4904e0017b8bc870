"""The trace of the unmasked table: its utility by the measure `joint`."""

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
    """The joint utility of all unmasked attributes: one number, for the provider and the service alone."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_JOINT_TRACE]})

    value: Number = Field(
        description="Pillai's trace of all unmasked attributes and the label, adjusted for the number of values (the "
        "measure `joint` with its default correction), at least 0 and at least that of any single attribute. "
        "Rare values may have been merged first, independently of the configurations"
    )
    rounded_to: PositiveNumber | None = Field(
        default=None, description="The value was rounded to a multiple of this; null: it is exact"
    )


def trace_faults(trace: JointTrace | None, control: DisclosureControl | None) -> Iterator[Fault]:
    """The faults of a trace that is not a multiple of its base, or lacks a control of all counts."""
    if trace is None:
        return
    if trace.rounded_to is not None and not is_multiple(trace.value, trace.rounded_to):
        yield ("value",), f"Is not a multiple of {trace.rounded_to:g} (`rounded_to`)"
    if control is None:
        return
    if control.epsilon is not None:
        yield (), "Was computed from exact counts, but `disclosure_control` declares noise in all: leave it out"
    elif trace.rounded_to is None and (control.rounded_to is not None or control.min_cell is not None):
        yield ("rounded_to",), "This number is exact, but `disclosure_control` says that all were changed: round it"


def is_multiple(number: float, base: float) -> bool:
    """Whether a number is a multiple of a base; true if the base is within the number's floating-point precision."""
    multiple = number / base
    return isfinite(multiple) and abs(multiple - round(multiple)) <= _NEARLY * max(1.0, abs(multiple))
