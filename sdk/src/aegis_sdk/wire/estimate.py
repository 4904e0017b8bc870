"""Numbers that were measured on a sample, with their 95 % intervals."""

from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from aegis_sdk.wire.documents import Request
from aegis_sdk.wire.faults import fault
from aegis_sdk.wire.values import exact_integer

Score = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
"""A number from 0 to 1."""

Finite = Annotated[float, Field(allow_inf_nan=False), BeforeValidator(exact_integer)]
"""Any number, negative ones included."""


class Estimate(Request):
    """A number measured on a sample, with its 95 % interval."""

    value: Finite = Field(description="The number")
    low: Finite = Field(description="Lower limit of its 95 % interval")
    high: Finite = Field(description="Upper limit of its 95 % interval")

    @model_validator(mode="after")
    def _is_in_its_interval(self) -> Self:
        if not self.low <= self.value <= self.high:
            raise fault(f"The value, {self.value:g}, must lie in its interval, from {self.low:g} to {self.high:g}")
        return self

    def numbers(self) -> Iterator[tuple[str, float]]:
        """The value and the limits, by name."""
        yield from (("value", self.value), ("low", self.low), ("high", self.high))
