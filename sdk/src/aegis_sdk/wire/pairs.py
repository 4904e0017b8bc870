"""The published counts of pairs of masked attributes, and their association with labels."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, ConfigDict, Field

from aegis_sdk.wire.attribute import DROP, IDENTITY, Attribute, Label, Noise, RoundingBase, SpendingNoise
from aegis_sdk.wire.documents import LONG_OBJECT, CheckedRequest, Fault, Request, fault, within
from aegis_sdk.wire.examples import EXAMPLE_PAIR
from aegis_sdk.wire.values import (
    COUNT_MAX,
    CountList,
    Identifiers,
    MaskedCounts,
    Number,
    PositiveNumber,
    repeats,
)

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

MOST_BASES = 10_000_000
"""The largest error of a sum of rounded counts, in multiples of the base: as many as an entry has cells."""


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
        exclude_if=lambda associations: not associations,
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
