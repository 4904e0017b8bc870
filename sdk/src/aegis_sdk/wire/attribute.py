"""The label, the attributes and what is known of the masking functions of each."""

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from aegis_sdk.wire.bounded import LONG_LIST
from aegis_sdk.wire.documents import Request
from aegis_sdk.wire.faults import Fault, refuse
from aegis_sdk.wire.tables import CountTable, MaskedCounts, ProbabilityTable
from aegis_sdk.wire.values import COUNT_MAX, CountList, Domain, Identifier, JsonObject, PositiveNumber, repeats

IDENTITY = "identity"
"""The masking that leaves an attribute as it is."""

DROP = "drop"
"""The masking that does not share an attribute."""


TOLERANCE = 1e-9
"""Parts of a budget are fractions, whose sum may exceed it by rounding."""

RoundingBase = Annotated[int, Field(ge=2, le=COUNT_MAX)]
"""Counts were rounded to multiples of this."""


def length_fault(field: str, given: int, expected: int, unit: str) -> Iterator[Fault]:
    """A fault of the field unless as many are given as expected."""
    if given != expected:
        yield (field,), f"Has {given} {unit} where the domain has {expected} values"


class Noise(Request):
    """Noise that was added to each count of a table by itself, as differential privacy does it."""

    kind: Literal["laplace"] = Field(
        description="`laplace`: discrete Laplace, `P(k)` in proportion to `exp(-|k| / scale)` over the integers"
    )
    scale: PositiveNumber = Field(description="Scale of the noise, in records: sensitivity over epsilon")
    epsilon: PositiveNumber | None = Field(
        default=None, description="What these counts take of the entry's epsilon, which is split over its tables"
    )

    @property
    def spent(self) -> float:
        """The epsilon that these counts take: as declared, else the least that noise of this scale can."""
        return 1 / self.scale if self.epsilon is None else self.epsilon

    @model_validator(mode="after")
    def _spends_what_it_says(self) -> Self:
        # A record more or less changes one count of a table by 1, so that the sensitivity is no less.
        if self.spent * (1 + TOLERANCE) < 1 / self.scale:
            refuse("noise", [(("epsilon",), "Is less than 1 / `scale`, which noise of this scale takes")])
        return self


class Label(Request):
    """The class label: its values and how many records have each."""

    name: Identifier = Field(description="Name of the label")
    domain: Domain = Field(description="Values of the label as text, in order")
    noise: Noise | None = Field(default=None, description="Noise that was added to each count of `histogram`")
    rounded_to: RoundingBase | None = Field(
        default=None, description="Each count of `histogram` was rounded to a multiple of this base, up or down"
    )
    histogram: CountList = Field(description="Records per value of `domain`; their sum is `records`")

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
    """What a masking does, for people and for the provider's own tool; the service never runs it."""

    name: Identifier = Field(description="Name of the function, such as `bucketize`")
    parameters: JsonObject = Field(default_factory=dict, description="Its parameters, any JSON")


class Discretization(Request):
    """By which rule the values of a continuous attribute became those of its domain; the service never runs it."""

    rule: Identifier = Field(description="Name of the rule, such as `equal_width`")
    parameters: JsonObject = Field(default_factory=dict, description="Its parameters and the edges it found, any JSON")


class Masking(Request):
    """What is known of one masking function of an attribute: its mapping, its joint counts, or both.

    `noise`, `rounded_to` and `records` declare in what way the joint counts are not those of the table.
    """

    id: Identifier = Field(description="Unique in its attribute; `identity` and `drop` are reserved")
    function: MaskingFunction | None = Field(default=None, description="What it does")
    domain: Domain = Field(description="Masked values as text, in order")
    mapping: CountList | None = Field(
        default=None, description="For each value of the attribute's domain, the index of its masked value"
    )
    transition: ProbabilityTable | None = Field(
        default=None,
        description="Instead of a mapping, where chance decides: `P(masked value | value)`, a row per value of the "
        "attribute's domain, a column per masked value; rows add up to 1",
    )
    # Before `joint`, whose counts may be negative where this is declared.
    noise: Noise | None = Field(default=None, description="Noise that was added to each count of `joint`")
    rounded_to: RoundingBase | None = Field(
        default=None, description="Each count of `joint` was rounded to a multiple of this base, up or down"
    )
    records: Annotated[int, Field(ge=1, le=COUNT_MAX)] | None = Field(
        default=None, description="How many of the entry's records `joint` counts; the others were left out"
    )
    joint: MaskedCounts | None = Field(
        default=None,
        description="Joint counts: a row per masked value, a column per label value; negative only with `noise`",
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
        if self.mapping is None and self.joint is None and self.transition is None:
            yield (), "Nothing is known of this masking: it needs a mapping, joint counts or both"
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
                yield (field,), "Says something of the joint counts, and there are none"

    def _transition_faults(self) -> Iterator[Fault]:
        if self.transition is None:
            return
        if self.mapping is not None:
            yield ("transition",), "A masking has a mapping or a transition matrix, not both"
        if self.deterministic:
            yield ("deterministic",), "A masking with a transition matrix is not deterministic"
        if self.transition and len(self.transition[0]) != len(self.domain):
            given, expected = len(self.transition[0]), len(self.domain)
            yield ("transition",), f"Has {given} columns where the masking has {expected} masked values"


class Attribute(Request):
    """An attribute: its domain, what is known of its unmasked counts, and its maskings."""

    name: Identifier = Field(description="Name of the attribute")
    type: Literal["string", "integer", "number", "boolean", "date"] = Field(description="Type of its values")
    domain: Domain = Field(description="Values of the attribute as text, in order")
    discretization: Discretization | None = Field(
        default=None, description="How the provider made these values of the continuous ones that the table holds"
    )
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
            for location, detail in _size_faults(masking, size):
                yield ("maskings", index, *location), detail
        for location, detail in repeats([masking.id for masking in self.maskings]):
            yield ("maskings", *location, "id"), detail


def _size_faults(masking: Masking, size: int) -> Iterator[Fault]:
    """The faults of what a masking says of each value of a domain of that size."""
    if masking.mapping is not None:
        yield from length_fault("mapping", len(masking.mapping), size, "indices")
    if masking.transition is not None:
        yield from length_fault("transition", len(masking.transition), size, "rows")
