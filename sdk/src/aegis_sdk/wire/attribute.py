"""The label, the attributes and what is known of the masking functions of each."""

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from aegis_sdk.wire.bounded import LONG_LIST
from aegis_sdk.wire.documents import Request
from aegis_sdk.wire.faults import Fault, refuse
from aegis_sdk.wire.values import CountList, CountTable, Domain, Identifier, JsonObject, repeats

IDENTITY = "identity"
"""The masking that leaves an attribute as it is."""

DROP = "drop"
"""The masking that does not share an attribute."""


def length_fault(field: str, given: int, expected: int, unit: str) -> Iterator[Fault]:
    """A fault of the field unless as many are given as expected."""
    if given != expected:
        yield (field,), f"Has {given} {unit} where the domain has {expected} values"


class Label(Request):
    """The class label: its values and how many records have each."""

    name: Identifier = Field(description="Name of the label")
    domain: Domain = Field(description="Values of the label as text, in order")
    histogram: CountList = Field(description="Records per value of `domain`; their sum is `records`")

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        refuse("label", length_fault("histogram", len(self.histogram), len(self.domain), "counts"))
        return self


class MaskingFunction(Request):
    """What a masking does, for people and for the provider's own tool; the service never runs it."""

    name: Identifier = Field(description="Name of the function, such as `bucketize`")
    parameters: JsonObject = Field(default_factory=dict, description="Its parameters, any JSON")


class Masking(Request):
    """What is known of one masking function of an attribute: its mapping, its joint counts, or both."""

    id: Identifier = Field(description="Unique in its attribute; `identity` and `drop` are reserved")
    function: MaskingFunction | None = Field(default=None, description="What it does")
    domain: Domain = Field(description="Masked values as text, in order")
    mapping: CountList | None = Field(
        default=None, description="For each value of the attribute's domain, the index of its masked value"
    )
    joint: CountTable | None = Field(
        default=None, description="Joint counts: a row per masked value, a column per label value"
    )
    deterministic: bool | None = Field(
        default=None,
        description="Is it a function of the value? True when `mapping` is given, otherwise false by default",
    )

    @property
    def is_deterministic(self) -> bool:
        """Whether the masked value is a function of the value, the default filled in."""
        return self.mapping is not None or bool(self.deterministic)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        refuse("masking", self._faults())
        return self

    def _faults(self) -> Iterator[Fault]:
        if self.id in (IDENTITY, DROP):
            yield ("id",), f'"{self.id}" is reserved'
        if self.mapping is None and self.joint is None:
            yield (), "Nothing is known of this masking: it needs a mapping, joint counts or both"
        if self.mapping is not None and self.deterministic is False:
            yield ("deterministic",), "A masking with a mapping is deterministic"
        if self.joint is not None:
            yield from length_fault("joint", len(self.joint), len(self.domain), "rows")


class Attribute(Request):
    """An attribute: its domain, what is known of its unmasked counts, and its maskings."""

    name: Identifier = Field(description="Name of the attribute")
    type: Literal["string", "integer", "number", "boolean", "date"] = Field(description="Type of its values")
    domain: Domain = Field(description="Values of the attribute as text, in order")
    histogram: CountList | None = Field(
        default=None, description="Records per value of `domain`; their sum is `records`"
    )
    joint: CountTable | None = Field(
        default=None,
        description="Unmasked joint counts: a row per value of `domain`, a column per label value",
    )
    maskings: Annotated[list[Masking], LONG_LIST] = Field(default_factory=list, description="Its masking functions")

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        refuse("attribute", self._faults())
        return self

    def _faults(self) -> Iterator[Fault]:
        size = len(self.domain)
        if self.histogram is not None:
            yield from length_fault("histogram", len(self.histogram), size, "counts")
        if self.joint is not None:
            yield from length_fault("joint", len(self.joint), size, "rows")
        for index, masking in enumerate(self.maskings):
            if masking.mapping is not None:
                for location, detail in length_fault("mapping", len(masking.mapping), size, "indices"):
                    yield ("maskings", index, *location), detail
        for location, detail in repeats([masking.id for masking in self.maskings]):
            yield ("maskings", *location, "id"), detail
