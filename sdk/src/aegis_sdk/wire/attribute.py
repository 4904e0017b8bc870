"""The label, the attributes, and the published data on each attribute's masking functions."""

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from aegis_sdk.wire.documents import LONG_LIST, Fault, Request, refuse
from aegis_sdk.wire.values import (
    COUNT_MAX,
    CountList,
    CountTable,
    Domain,
    Identifier,
    JsonObject,
    MaskedCounts,
    PositiveNumber,
    ProbabilityTable,
    repeats,
)

IDENTITY = "identity"
"""The masking that leaves an attribute unchanged."""

DROP = "drop"
"""The masking that does not share an attribute."""


TOLERANCE = 1e-9
"""Relative tolerance of a budget: its parts are fractions, so their sum may exceed it by rounding."""

RoundingBase = Annotated[int, Field(ge=2, le=COUNT_MAX)]
"""The base that counts were rounded to multiples of."""


def length_fault(field: str, given: int, expected: int, unit: str) -> Iterator[Fault]:
    """A fault of the field if its length is not the expected one."""
    if given != expected:
        yield (field,), f"Has {given} {unit}, but the domain has {expected} values"


class Noise(Request):
    """Noise that was added independently to each count of a table, as in differential privacy."""

    kind: Literal["laplace"] = Field(
        description="`laplace`: discrete Laplace noise; the integer `k` has probability proportional to "
        "`exp(-|k| / scale)`"
    )
    scale: PositiveNumber = Field(description="Scale of the noise, in records: sensitivity over epsilon")
    epsilon: PositiveNumber | None = Field(
        default=None, description="This table's share of the entry's epsilon, which is split over its tables"
    )

    @property
    def spent(self) -> float:
        """The epsilon that these counts spend: as declared, or else the least possible with this noise."""
        return 1 / self.scale if self.epsilon is None else self.epsilon

    @model_validator(mode="after")
    def _spends_what_it_says(self) -> Self:
        # One more record changes one count of a table by 1, so the sensitivity is at least 1.
        if self.spent * (1 + TOLERANCE) < 1 / self.scale:
            refuse("noise", [(("epsilon",), "Is less than 1 / `scale`, the least that noise of this scale spends")])
        return self


class Label(Request):
    """The class label: its values and their numbers of records."""

    name: Identifier = Field(description="Name of the label")
    domain: Domain = Field(description="Values of the label as text, in order")
    noise: Noise | None = Field(default=None, description="Noise that was added to each count of `histogram`")
    rounded_to: RoundingBase | None = Field(
        default=None, description="Each count of `histogram` was rounded up or down to a multiple of this base"
    )
    histogram: CountList = Field(description="Number of records with each value of `domain`; they sum to `records`")

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        refuse("label", self._faults())
        return self

    def _faults(self) -> Iterator[Fault]:
        yield from length_fault("histogram", len(self.histogram), len(self.domain), "counts")
        if self.rounded_to is None or self.noise is not None:
            return
        for index, count in enumerate(self.histogram):
            if count % self.rounded_to:
                yield ("histogram", index), f"Is not a multiple of {self.rounded_to}, its `rounded_to`"


class MaskingFunction(Request):
    """The function of a masking, for people and for the provider's own tool; the service never runs it."""

    name: Identifier = Field(description="Name of the function, such as `bucketize`")
    parameters: JsonObject = Field(default_factory=dict, description="Its parameters: any JSON object")


class Discretization(Request):
    """The rule that made a continuous attribute discrete; the service never runs it."""

    rule: Identifier = Field(description="Name of the rule, such as `equal_width`")
    parameters: JsonObject = Field(
        default_factory=dict, description="Its parameters and the resulting edges: any JSON object"
    )


class Masking(Request):
    """One masking of an attribute: its mapping, its joint counts, or both.

    `noise`, `rounded_to` and `records` declare how the joint counts differ from those of the table.
    """

    id: Identifier = Field(description="Unique within its attribute; `identity` and `drop` are reserved")
    function: MaskingFunction | None = Field(default=None, description="The masking function")
    domain: Domain = Field(description="Masked values as text, in order")
    mapping: CountList | None = Field(
        default=None,
        description="For each value of the attribute's domain, the index of its masked value in this `domain`",
    )
    transition: ProbabilityTable | None = Field(
        default=None,
        description="For a random masking, instead of a mapping: `P(masked value | value)`, with a row for each value "
        "of the attribute's domain and a column for each masked value; each row sums to 1",
    )
    # Stands before `joint`, because it allows negative counts there.
    noise: Noise | None = Field(default=None, description="Noise that was added to each count of `joint`")
    rounded_to: RoundingBase | None = Field(
        default=None, description="Each count of `joint` was rounded up or down to a multiple of this base"
    )
    records: Annotated[int, Field(ge=1, le=COUNT_MAX)] | None = Field(
        default=None, description="Number of the entry's records in `joint`; the others were suppressed"
    )
    joint: MaskedCounts | None = Field(
        default=None,
        description="Joint counts: a row for each masked value, a column for each label value; negative counts need "
        "`noise`",
    )
    deterministic: bool | None = Field(
        default=None,
        description="Whether the masked value is a function of the value: true if `mapping` is given, otherwise false "
        "by default",
    )

    @property
    def is_deterministic(self) -> bool:
        """Whether the masked value is a function of the value, with the default applied."""
        return self.mapping is not None or bool(self.deterministic)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        refuse("masking", self._faults())
        return self

    def _faults(self) -> Iterator[Fault]:
        if self.id in (IDENTITY, DROP):
            yield ("id",), f'"{self.id}" is reserved'
        if self.mapping is None and self.joint is None and self.transition is None:
            yield (), "This masking has neither a mapping nor joint counts; give at least one of them"
        if self.mapping is not None and self.deterministic is False:
            yield ("deterministic",), "A masking with a mapping is deterministic"
        if self.joint is None:
            yield from self._faults_without_counts()
        else:
            yield from length_fault("joint", len(self.joint), len(self.domain), "rows")
        yield from self._transition_faults()

    def _faults_without_counts(self) -> Iterator[Fault]:
        for field in ("transition", "noise", "rounded_to", "records"):
            if getattr(self, field) is not None:
                yield (field,), "Describes the joint counts, but the masking has none"

    def _transition_faults(self) -> Iterator[Fault]:
        if self.transition is None:
            return
        if self.mapping is not None:
            yield ("transition",), "A masking has a mapping or a transition matrix, not both"
        if self.deterministic:
            yield ("deterministic",), "A masking with a transition matrix is not deterministic"
        if self.transition and len(self.transition[0]) != len(self.domain):
            given, expected = len(self.transition[0]), len(self.domain)
            yield ("transition",), f"Has {given} columns, but the masking has {expected} masked values"


class Attribute(Request):
    """An attribute: its domain, its unmasked counts as far as they are published, and its maskings."""

    name: Identifier = Field(description="Name of the attribute")
    type: Literal["string", "integer", "number", "boolean", "date"] = Field(description="Type of the values")
    domain: Domain = Field(description="Values of the attribute as text, in order")
    discretization: Discretization | None = Field(
        default=None, description="How the provider made these values from continuous ones"
    )
    histogram: CountList | None = Field(
        default=None, description="Number of records with each value of `domain`; they sum to `records`"
    )
    joint: CountTable | None = Field(
        default=None,
        description="Unmasked joint counts: a row for each value of `domain`, a column for each label value",
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
            for location, detail in _size_faults(masking, size):
                yield ("maskings", index, *location), detail
        for location, detail in repeats([masking.id for masking in self.maskings]):
            yield ("maskings", *location, "id"), detail


def _size_faults(masking: Masking, size: int) -> Iterator[Fault]:
    """The faults of a mapping or transition matrix that does not fit a domain of this size."""
    if masking.mapping is not None:
        yield from length_fault("mapping", len(masking.mapping), size, "indices")
    if masking.transition is not None:
        yield from length_fault("transition", len(masking.transition), size, "rows")
