"""The label, the attributes, and the published counts of their maskings, one by one and in pairs."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, ClassVar, Literal, TypeVar

from pydantic import AfterValidator, ConfigDict, Field

from aegis_sdk.wire.documents import LONG_LIST, LONG_OBJECT, CheckedRequest, Fault, Request, fault, within
from aegis_sdk.wire.examples import EXAMPLE_PAIR
from aegis_sdk.wire.scores import Scores, length_fault
from aegis_sdk.wire.values import (
    COUNT_MAX,
    CountList,
    CountTable,
    Domain,
    Identifier,
    Identifiers,
    JsonObject,
    MaskedCounts,
    Number,
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


ItemT = TypeVar("ItemT")
Sizes = Mapping[str, Mapping[str, int]]
"""The numbers of masked values by attribute and masking id."""


def _exactly_two(noun: str) -> AfterValidator:
    def checked(items: list[ItemT]) -> list[ItemT]:
        if len(items) != 2:  # noqa: PLR2004 -- both sides of a pair
            raise fault(f"Has {len(items)} {noun}; give exactly two")
        return items

    return AfterValidator(checked)


_TWO_ITEMS = Field(json_schema_extra={"minItems": 2, "maxItems": 2})
_Two = Annotated[Identifiers, _exactly_two("names"), _TWO_ITEMS]
_BothPlaces = Annotated[list[CountList], _exactly_two("lists"), _TWO_ITEMS]

ASSOCIATED = 2
"""The joint sensitivity of the sums behind chi-square and of the number of combinations: 1 each."""

MOST_BASES = 1_000
"""The largest error of counts with preserved sums, in multiples of the base."""


class AssociationNoise(SpendingNoise):
    """Noise in a label association: in the sums behind chi-square, and in the number of combinations."""

    sensitivity = ASSOCIATED

    kind: Literal["laplace"] = Field(
        description="`laplace`: Laplace noise of the same scale on `combinations` and on each sum `S_j`, the squared "
        "counts of a combination and the label value `j` over those of the combination, added up. With the published "
        "counts `m_j` of the label and their sum `N`, `chi_square` is `N (sum of S_j / m_j - 1)`"
    )
    scale: PositiveNumber = Field(
        description="Scale of the noise, in records; that of `chi_square` is `N / m_j` times as large for each `S_j`"
    )
    epsilon: PositiveNumber | None = Field(
        default=None, description="The share of the entry's epsilon that both numbers spent together"
    )


class LabelAssociation(Request):
    """How strongly the label depends on the combination of two masked values, over all records."""

    chi_square: Number = Field(
        description="Pearson's chi-square of the table with a row for each combination that occurs and a column for "
        "each label value"
    )
    combinations: int = Field(ge=1, le=COUNT_MAX, description="Number of combinations that occur")
    rounded_to: RoundingBase | None = Field(
        default=None,
        description="`combinations` was rounded up or down to a multiple of this base, and `chi_square` to a "
        "multiple of this base times the number of label values, or times a tenth of all records over those of "
        "the rarest label value, whichever is larger. Combinations with few records had been merged before. "
        "null: not rounded",
    )
    digits: Annotated[int, Field(ge=1, le=17)] | None = Field(
        default=None,
        description="Both numbers were then rounded to this many significant digits; null: not rounded",
    )
    noise: AssociationNoise | None = Field(default=None, description="Noise that was added to both numbers; null: none")


class Pair(CheckedRequest):
    """A pair of masked attributes: their joint counts, their association with the label, or both."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_PAIR]})

    attributes: _Two = Field(description="Names of the two attributes")
    maskings: _Two = Field(description="Masking id of each, or `identity`")
    # Stands before `joint`, because it allows negative counts there.
    noise: Noise | None = Field(default=None, description="Noise that was added to each count of `joint`")
    rounded_to: RoundingBase | None = Field(
        default=None, description="Each count of `joint` was rounded up or down to a multiple of this base"
    )
    within: Annotated[int, Field(ge=1, le=MOST_BASES)] | None = Field(
        default=None,
        description="The counts were rounded so that rows and columns add up to the published counts of the masked "
        "values, with an error of each count below this many times `rounded_to`. Needs `rounded_to`. null: each "
        "was rounded independently, with an error below `rounded_to`",
    )
    joint: MaskedCounts | None = Field(
        default=None,
        description="Counts: a row for each masked value of the first attribute, a column for each of the second, in "
        "the order of their domains. They sum to `records`, unless they declare `noise` or `rounded_to`. If both "
        "maskings are functions of those of another pair, the counts follow from that pair's and can be left out",
    )
    counted_with: _BothPlaces | None = Field(
        default=None,
        description="For each of the two attributes, the index of the masked value with which each masked value is "
        "counted in `joint`, possibly its own: values with few records, by the published counts of the "
        "attribute, are counted with neighbours. The other rows and columns are 0. Needs `rounded_to`. null: "
        "each is counted by itself",
    )
    with_label: LabelAssociation | None = Field(
        default=None,
        description="Association of the label with both together, for the measure `joint_interactions`. It cannot be "
        "derived from other pairs, so each pair of maskings that a configuration combines needs its own",
    )
    with_labels: Annotated[dict[str, LabelAssociation], LONG_OBJECT] = Field(
        default_factory=dict,
        description="Association of each other label (`labels`) with both together, like `with_label`; of a label "
        "that is one of the two, with the default label in its place. Needs format 4",
    )

    def is_with_label(self, labels: Collection[str]) -> bool:
        """Whether it counts a masked attribute with the first of these labels, masked, or with another as it is."""
        default = next(iter(labels), None)
        return any(
            name == default or (name in labels and masking == IDENTITY)
            for name, masking in zip(self.attributes, self.maskings, strict=True)
        )

    def _faults(self) -> Iterator[Fault]:
        for location, detail in repeats(self.attributes):
            yield ("attributes", *location), detail
        for side, masking in enumerate(self.maskings):
            if masking == DROP:
                yield ("maskings", side), '"drop" does not share the attribute, so there is nothing to count'
        if self.joint is None and self.with_label is None and not self.with_labels:
            yield ("joint",), "Give `joint`, `with_label` or both"
        for field in ("noise", "rounded_to", "within", "counted_with") if self.joint is None else ():
            if getattr(self, field) is not None:
                yield (field,), "Describes the joint counts, but the pair has none"
        by_rounding = self.rounded_to is not None and self.noise is None
        if self.within is not None and self.joint is not None and not by_rounding:
            yield ("within",), "Describes rounded counts, without noise"
        elif self.within is not None and (self.rounded_to or 0) * self.within > COUNT_MAX:
            yield ("within",), f"Too large: times `rounded_to`, it is above {COUNT_MAX}"
        if self.counted_with is not None and self.joint is not None and not by_rounding:
            yield ("counted_with",), "Masked values are counted with others only in rounded counts, without noise"


def pair_faults(pairs: Sequence[Pair], attributes: Sequence[Attribute], label: Label) -> Iterator[Fault]:
    """The faults of pairs that do not fit the attributes of their entry or its masked label, and of repeated pairs."""
    sizes = {
        attribute.name: {IDENTITY: len(attribute.domain)}
        | {masking.id: len(masking.domain) for masking in attribute.maskings}
        for attribute in attributes
    }
    if label.maskings:  # counts with the label as it is are the attribute's own
        sizes[label.name] = {masking.id: len(masking.domain) for masking in label.maskings}
    first: dict[frozenset[tuple[str, str]], int] = {}
    for index, pair in enumerate(pairs):
        masked = frozenset(zip(pair.attributes, pair.maskings, strict=True))
        if first.setdefault(masked, index) != index:
            yield (index,), f"Repeats item {first[masked]}"
        yield from within((index,), _unknown_names(pair, sizes) or _wrong_sizes(pair, sizes))
        if label.maskings and label.name in pair.attributes and (pair.with_label is not None or pair.with_labels):
            yield (index, "with_label"), "Is about two attributes, but one of the two is the label"


def _unknown_names(pair: Pair, sizes: Sizes) -> list[Fault]:
    faults: list[Fault] = []
    for side, (attribute, masking) in enumerate(zip(pair.attributes, pair.maskings, strict=True)):
        if attribute not in sizes:
            faults.append((("attributes", side), "The entry has no such attribute"))
        elif masking not in sizes[attribute]:
            faults.append((("maskings", side), "The attribute has no such masking"))
    return faults


def _wrong_sizes(pair: Pair, sizes: Sizes) -> Iterator[Fault]:
    """The faults of a table whose shape does not fit its domains; all its rows are of equal length here."""
    rows, columns = (sizes[name][masking] for name, masking in zip(pair.attributes, pair.maskings, strict=True))
    if pair.joint is None:
        return
    if len(pair.joint) != rows:
        yield ("joint",), f"Has {len(pair.joint)} rows, but {pair.attributes[0]!r} has {rows} masked values"
    elif len(pair.joint[0]) != columns:
        given = len(pair.joint[0])
        yield ("joint",), f"Has {given} columns, but {pair.attributes[1]!r} has {columns} masked values"
    elif pair.counted_with is not None:
        yield from _counted_elsewhere(pair.joint, pair.counted_with)


def _counted_elsewhere(joint: list[list[int]], counted_with: list[list[int]]) -> Iterator[Fault]:
    """The faults of `counted_with`, and of rows and columns that must be 0 because of it."""
    wrong = False
    for side, (places, size) in enumerate(zip(counted_with, (len(joint), len(joint[0])), strict=True)):
        if len(places) != size:
            wrong = True
            yield ("counted_with", side), f"Has {len(places)} indices, but there are {size} masked values"
        elif any(place >= size or places[place] != place for place in places):
            wrong = True
            yield ("counted_with", side), "A masked value is counted with one that is itself counted elsewhere"
    if wrong:
        return
    if hasattr(joint, "any"):  # an array from the service's parser
        rows, columns = joint.any(axis=1).tolist(), joint.any(axis=0).tolist()
    else:
        rows, columns = list(map(any, joint)), list(map(any, zip(*joint, strict=True)))
    for row in _elsewhere(counted_with[0], rows):
        yield ("joint", row), f"Must be 0, since its masked value is counted at index {counted_with[0][row]}"
    for column in _elsewhere(counted_with[1], columns):
        at = counted_with[1][column]
        yield ("joint",), f"Column {column} must be 0, since its masked value is counted at index {at}"


def _elsewhere(places: Sequence[int], has_counts: Sequence[bool]) -> list[int]:
    """The masked values with counts whose index is not their own."""
    return [place for place, (at, has) in enumerate(zip(places, has_counts, strict=True)) if has and at != place]
