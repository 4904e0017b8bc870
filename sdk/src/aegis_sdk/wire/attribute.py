"""The label, the attributes, and the published counts of their maskings, one by one."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from aegis_sdk.wire.documents import LONG_LIST, CheckedRequest, Fault, Request, within
from aegis_sdk.wire.offers import Concept
from aegis_sdk.wire.scores import Scores, length_fault
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


class SpendingNoise(CheckedRequest):
    """Laplace noise in numbers of this joint sensitivity: what one more record changes in them, at most."""

    sensitivity: ClassVar[int]

    kind: Literal["laplace"]
    scale: PositiveNumber
    epsilon: PositiveNumber | None = None

    @property
    def spent(self) -> float:
        """The epsilon that the numbers spend: as declared, or else the least possible with this noise."""
        return self.sensitivity / self.scale if self.epsilon is None else self.epsilon

    def _faults(self) -> Iterator[Fault]:
        if self.spent * (1 + TOLERANCE) < self.sensitivity / self.scale:
            least = f"{self.sensitivity} / `scale`"
            yield ("epsilon",), f"Is less than {least}, the least that noise of this scale spends"


class Noise(SpendingNoise):
    """Noise that was added independently to each count of a table, as in differential privacy."""

    sensitivity = 1  # one more record changes one count of a table by 1

    kind: Literal["laplace"] = Field(
        description="`laplace`: discrete Laplace noise; the integer `k` has probability proportional to "
        "`exp(-|k| / scale)`"
    )
    scale: PositiveNumber = Field(description="Scale of the noise, in records: sensitivity over epsilon")
    epsilon: PositiveNumber | None = Field(
        default=None, description="This table's share of the entry's epsilon, which is split over its tables"
    )


class MaskingFunction(Request):
    """The function of a masking, for people and for the provider's own tool; the service never runs it."""

    name: Identifier = Field(description="Name of the function, such as `bucketize`")
    parameters: JsonObject = Field(default_factory=dict, description="Its parameters: any JSON object")


class LabelMasking(CheckedRequest):
    """One masking of the label: a function that merges its values."""

    id: Identifier = Field(description="Unique within the label; `identity` and `drop` are reserved")
    function: MaskingFunction | None = Field(default=None, description="The masking function")
    domain: Domain = Field(description="Masked values as text, in order; at least two, each of some value")
    mapping: CountList = Field(description="For each value of the label, the index of its masked value in `domain`")

    def _faults(self) -> Iterator[Fault]:
        if self.id in (IDENTITY, DROP):
            yield ("id",), f'"{self.id}" is reserved'
        if len(self.domain) < 2:  # noqa: PLR2004 -- a single class
            yield ("domain",), "Has a single masked value, so nothing is left to predict: give two or more"
        wrong = [index for index, place in enumerate(self.mapping) if place >= len(self.domain)]
        yield from ((("mapping", index), f"`domain` has {len(self.domain)} masked values") for index in wrong)
        unused = () if wrong else sorted(set(range(len(self.domain))) - set(self.mapping))
        yield from ((("domain", place), "No value of the label is mapped to it: leave it out") for place in unused)


class Label(CheckedRequest):
    """The class label: its values and their numbers of records."""

    name: Identifier = Field(description="Name of the label")
    domain: Domain = Field(description="Values of the label as text, in order")
    noise: Noise | None = Field(default=None, description="Noise that was added to each count of `histogram`")
    rounded_to: RoundingBase | None = Field(
        default=None, description="Each count of `histogram` was rounded up or down to a multiple of this base"
    )
    histogram: CountList = Field(description="Number of records with each value of `domain`; they sum to `records`")
    scores: Scores | None = Field(
        default=None,
        description="Scores of its values, for the measures `joint_scores` and `correlation_ratio`; `joint_trace` is "
        "then by `joint_scores`. null: by these measures 0, 1, 2, ... Needs format 4",
    )
    maskings: Annotated[list[LabelMasking], LONG_LIST] = Field(
        default_factory=list,
        description="Its masking functions. Every configuration then names the label, too, with one of them or "
        "`identity`, and `pairs` has the joint counts of maskings with a masked label, unless they follow from others. "
        "Needs format 4",
    )
    concept: Concept | None = Field(default=None, description="What it is about, for searches; needs format 5")

    def _faults(self) -> Iterator[Fault]:
        yield from length_fault("histogram", len(self.histogram), len(self.domain), "counts")
        for index, masking in enumerate(self.maskings):
            length = length_fault("mapping", len(masking.mapping), len(self.domain), "indices")
            yield from within(("maskings", index), length)
        for location, detail in repeats([masking.id for masking in self.maskings]):
            yield ("maskings", *location, "id"), detail
        if self.scores is not None:
            yield from within(("scores",), self.scores.faults_for(self.histogram, self.domain))
        if self.rounded_to is None or self.noise is not None:
            return
        for index, count in enumerate(self.histogram):
            if count % self.rounded_to:
                yield ("histogram", index), f"Is not a multiple of {self.rounded_to}, its `rounded_to`"


class Discretization(Request):
    """The rule that made a continuous attribute discrete; the service never runs it."""

    rule: Identifier = Field(description="Name of the rule, such as `equal_width`")
    parameters: JsonObject = Field(
        default_factory=dict, description="Its parameters and the resulting edges: any JSON object"
    )


class Masking(CheckedRequest):
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

    def _faults(self) -> Iterator[Fault]:
        if self.id in (IDENTITY, DROP):
            yield ("id",), f'"{self.id}" is reserved'
        if self.mapping is None and self.joint is None and self.transition is None:
            yield (), "This masking has neither a mapping nor joint counts; give at least one of them"
        if self.mapping is not None and self.deterministic is False:
            yield ("deterministic",), "A masking with a mapping is deterministic"
        if self.joint is not None:
            yield from length_fault("joint", len(self.joint), len(self.domain), "rows")
        for field in ("transition", "noise", "rounded_to", "records") if self.joint is None else ():
            if getattr(self, field) is not None:
                yield (field,), "Describes the joint counts, but the masking has none"
        yield from self._transition_faults()

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


class Attribute(CheckedRequest):
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
    scores: Scores | None = Field(
        default=None, description="Scores of its values, if it is one of `labels`, as those of `label`. Needs format 4"
    )
    concept: Concept | None = Field(default=None, description="What it is about, for searches; needs format 5")

    def _faults(self) -> Iterator[Fault]:
        size = len(self.domain)
        if self.scores is not None:
            histogram = [] if self.histogram is None else self.histogram
            yield from within(("scores",), self.scores.faults_for(histogram, self.domain))
        if self.histogram is not None:
            yield from length_fault("histogram", len(self.histogram), size, "counts")
        if self.joint is not None:
            yield from length_fault("joint", len(self.joint), size, "rows")
        for index, masking in enumerate(self.maskings):
            for field, unit in (("mapping", "indices"), ("transition", "rows")):
                if (given := getattr(masking, field)) is not None:
                    yield from within(("maskings", index), length_fault(field, len(given), size, unit))
        for location, detail in repeats([masking.id for masking in self.maskings]):
            yield ("maskings", *location, "id"), detail
