"""The content of an entry, as read by the service, the provider and the advisor.

Members are named as in the contract (`aegis_sdk.wire.EntryDocument`), which documents and checks them; nothing is
checked here. Members that no Python code reads are left out.

The conversion of an entry's content into evidence, for stored entries and others.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeAlias

import numpy as np

from aegis_advisor.arrays import IntArray
from aegis_advisor.evidence.attribute import IDENTITY, AttributeEvidence, Masking
from aegis_advisor.evidence.pair import PairAssociation, PairCounts
from aegis_advisor.evidence.perturbation import Perturbation

Counts: TypeAlias = Any
"""Counts, or places in a domain: lists as published, or int64 arrays."""

Column: TypeAlias = Any
"""A list with one item per configuration. Readers do not copy it: it can have millions of items."""

Number: TypeAlias = int | float

GENERATED = "generated"


@dataclass(frozen=True, slots=True)
class NoiseContent:
    """The noise on each count of a table; `scale` in records."""

    scale: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoresContent:
    """The scores of a label's classes (labels,), and the variance of the number that they stand for."""

    values: Sequence[Number]
    variance: Number | None = None


@dataclass(frozen=True, slots=True)
class ConceptContent:
    """What a column is about in any table, and the meaning of its values."""

    uri: str
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelContent:
    """The label and its counts."""

    name: str
    domain: Sequence[str]
    histogram: Counts = None
    scores: ScoresContent | None = None
    noise: NoiseContent | None = None
    rounded_to: int | None = None
    maskings: "Sequence[MaskingContent]" = ()
    concept: ConceptContent | None = None

    def masking(self, wanted: str) -> "MaskingContent | None":
        """The masking with this id, which the label has; None for the identity."""
        return None if wanted == IDENTITY else next(one for one in self.maskings if one.id == wanted)

    def class_of(self, masking: str) -> IntArray | None:
        """(labels,) the masked label of each label by a masking that the label has; None by the identity."""
        known = self.masking(masking)
        return None if known is None else np.asarray(known.mapping, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class FunctionContent:
    """The masking function and its parameters."""

    name: str
    parameters: Mapping[str, Any] | None = None

    @property
    def as_published(self) -> dict[str, Any]:
        """The function in the contract's names."""
        return {"name": self.name} if self.parameters is None else {"name": self.name, "parameters": self.parameters}


@dataclass(frozen=True, slots=True)
class DiscretizationContent:
    """How the values of an attribute were made discrete."""

    rule: str
    parameters: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskingContent:
    """One masking: `mapping` (values,), `transition` (values, groups), `joint` (groups, labels)."""

    id: str
    domain: Sequence[str]
    function: FunctionContent | None = None
    mapping: Counts = None
    transition: Any = None
    noise: NoiseContent | None = None
    rounded_to: int | None = None
    records: int | None = None
    joint: Counts = None
    deterministic: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeContent:
    """An attribute: `histogram` (values,) and `joint` (values, labels)."""

    name: str
    type: str
    domain: Sequence[str]
    discretization: DiscretizationContent | None = None
    histogram: Counts = None
    joint: Counts = None
    maskings: Sequence[MaskingContent] = ()
    scores: ScoresContent | None = None
    concept: ConceptContent | None = None

    def masking(self, wanted: str) -> MaskingContent:
        """The masking with this id, which the attribute has."""
        return next(masking for masking in self.maskings if masking.id == wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class AssociationContent:
    """How strongly the label depends on two masked attributes together."""

    chi_square: float
    combinations: int
    rounded_to: int | None = None
    digits: int | None = None
    noise: NoiseContent | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairContent:
    """The joint counts of two masked attributes: `joint` (groups of the one, groups of the other)."""

    attributes: Sequence[str]
    maskings: Sequence[str]
    noise: NoiseContent | None = None
    rounded_to: int | None = None
    within: int | None = None
    joint: Counts = None
    counted_with: Counts = None
    with_label: AssociationContent | None = None
    with_labels: Mapping[str, AssociationContent] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlContent:
    """The disclosure controls applied to all counts."""

    min_cell: int | None = None
    rounded_to: int | None = None
    rounding: str | None = None
    epsilon: float | None = None
    split: str | None = None
    open_answers: bool = False

    @property
    def rounded_once(self) -> int | None:
        """The base of the counts without a declaration, if they were rounded once; None if they are exact."""
        return self.rounded_to if self.rounding == "once" else None


@dataclass(frozen=True, slots=True)
class PublishedTrace:
    """The adjusted trace of the unmasked table, with all attributes of the entry.

    Attributes:
        value: the trace, in the unit of `joint` with its default correction.
        rounded_to: the base to which it was rounded up or down; None if it is exact.
    """

    value: float
    rounded_to: float | None = None

    @property
    def least(self) -> float:
        """The lowest trace that may have been rounded to this one."""
        return self.value - (self.rounded_to or 0.0)

    @property
    def most(self) -> float:
        """The highest trace that may have been rounded to this one."""
        return self.value + (self.rounded_to or 0.0)


@dataclass(frozen=True, slots=True)
class FigureContent:
    """A declared number and the limits of its interval."""

    value: Number
    low: Number
    high: Number


@dataclass(frozen=True, slots=True)
class TransferContent:
    """Declared transfer utilities: by attribute and measure, and of all attributes together."""

    attributes: Mapping[str, Mapping[str, FigureContent]] = field(default_factory=dict)
    joint: FigureContent | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldoutContent:
    """The records that transfer utilities were evaluated on."""

    records: int
    unmasked: TransferContent | None = None
    majority_error: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigurationContent:
    """A configuration, masked or generated. A generated one has its own counts and no maskings."""

    id: str
    kind: str = "masked"
    maskings: Mapping[str, str] = field(default_factory=dict)
    privacy: Mapping[str, Number] | None = None
    privacy_by_label: Mapping[str, Mapping[str, Number]] = field(default_factory=dict)
    suppressed: int | None = None
    suppressed_cells: int | None = None
    alone: Number | None = None
    records: int | None = None
    histogram: Counts = None
    method: str = ""
    transfer: TransferContent | None = None

    @property
    def is_generated(self) -> bool:
        """Whether it is a table drawn from a model."""
        return self.kind == GENERATED


@dataclass(frozen=True, slots=True, kw_only=True)
class TableContent:
    """Many masked configurations, as columns."""

    ids: Column
    maskings: Mapping[str, Column]
    privacy: Mapping[str, Column] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigurationsContent:
    """The configurations of an entry: a list, or a table."""

    configurations: Sequence[ConfigurationContent] | None = None
    configuration_table: TableContent | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryContent(ConfigurationsContent):
    """An entry. Stored entries have their configurations elsewhere, and none here.

    Attributes:
        labels: those that can be asked about, the default one first; of the task of one of several, this one. None of
            an entry that was made with one label.
    """

    records: int
    label: LabelContent
    attributes: Sequence[AttributeContent]
    labels: Sequence[str] | None = None
    people: int | None = None
    rows_per_person: int | None = None
    description: str = ""
    terms: Mapping[str, Any] | None = None
    quasi_identifiers: Sequence[str] | None = None
    pairs: Sequence[PairContent] = ()
    disclosure_control: ControlContent | None = None
    joint_trace: PublishedTrace | None = None
    joint_traces: Mapping[str, PublishedTrace] = field(default_factory=dict)
    holdout: HoldoutContent | None = None

    @property
    def once_within(self) -> int:
        """The number of bases that bounds the error of each count rounded once.

        Tables of several labels are rounded to sums that they share, which nearer multiples cannot always meet.
        """
        return 1 if self.labels is None else 2

    def about(self, label: str) -> "EntryContent":
        """The content as if made with this label alone: the label's task (`aegis_advisor.evidence.task`).

        Raises:
            NoTaskError: the entry has no such column, or no counts of it.
        """
        from aegis_advisor.evidence.task import about  # noqa: PLC0415 -- it makes contents, so it imports this module

        return about(self, label)

    def at(self, places: Sequence[int]) -> Self:
        """The entry with the attributes at these places only, in that order, and without pairs."""
        return replace(self, attributes=[self.attributes[place] for place in places], pairs=())


def evidence_of(entry: EntryContent, places: Iterable[int] | None = None) -> tuple[AttributeEvidence, ...]:
    """Return the evidence on the attributes at `places` (all by default) of a validated entry, in that order."""
    label, control = entry.label, entry.disclosure_control
    label_histogram = np.asarray(label.histogram, dtype=np.int64)
    about_label = Perturbation(_scale(label.noise), label.rounded_to)
    # `records` means nothing if a masking counts all records. If their number is uncertain, it stays.
    records = int(label_histogram.sum()) if about_label.is_none else None
    chosen = entry.attributes if places is None else [entry.attributes[place] for place in places]
    blocks = list(blocks_of(entry).values())
    return tuple(
        AttributeEvidence(
            name=attribute.name,
            values=len(attribute.domain),
            label_histogram=label_histogram,
            histogram=_counts(attribute.histogram),
            joint=_counts(attribute.joint),
            maskings=tuple(_masking(masking, records) for masking in attribute.maskings),
            label_perturbation=about_label,
            rounded_once=None if control is None else control.rounded_once,
            once_within=entry.once_within,
            label_scores=None if label.scores is None else np.asarray(label.scores.values, dtype=np.float64),
            blocks=tuple(block for name, block in blocks if name == attribute.name),
        )
        for attribute in chosen
    )


def blocks_of(entry: EntryContent) -> dict[int, tuple[str, Masking]]:
    """Return the attribute and the counts of each pair of a masking and the masked label, by the place of the pair.

    A block has the name of the masking and the masked label, such as `age-2 with health-3`.
    """
    label, blocks = entry.label, {}
    for place, pair in enumerate(entry.pairs if label.maskings else ()):
        if pair.joint is not None and label.name in pair.attributes:
            side = 1 - list(pair.attributes).index(label.name)
            attribute = next(one for one in entry.attributes if one.name == pair.attributes[side])
            joint = np.asarray(pair.joint, dtype=np.int64)
            blocks[place] = attribute.name, _block(attribute, label, pair, joint if side == 0 else joint.T, side)
    return blocks


def _block(attribute: AttributeContent, label: LabelContent, pair: PairContent, joint: IntArray, side: int) -> Masking:
    """The counts (groups, classes) of a pair, with the masking on a side and the masked label on the other."""
    masking, masked_label = pair.maskings[side], pair.maskings[1 - side]
    mapping = np.arange(len(attribute.domain))
    if masking != IDENTITY:
        mapping = np.asarray(attribute.masking(masking).mapping, dtype=np.int64)
    return Masking(
        id=f"{masking} with {masked_label}",
        groups=len(joint),
        mapping=mapping,
        joint=np.ascontiguousarray(joint),
        deterministic=True,
        perturbation=Perturbation(_scale(pair.noise), pair.rounded_to, within=pair.within),
        label_mapping=label.class_of(masked_label),
    )


def pairs_of(entry: EntryContent, places: Sequence[int] | None = None) -> dict[int, PairCounts]:
    """Return the pair counts of an entry by their places in it; with `places`, those of attributes at these places.

    Their attributes are positions in `places`, as in the evidence. Where counts were rounded once, pairs without a
    declaration are joint counts of a label: they were rounded, too.
    """
    control = entry.disclosure_control
    once = Perturbation(
        rounded_to=None if control is None else control.rounded_once,
        within=entry.once_within if entry.once_within > 1 else None,
    )
    placed = ((place, attributes, pair) for place, attributes, pair in _placed(entry, places) if pair.joint is not None)
    return {place: _as_rounded(pair_counts(pair, attributes), once) for place, attributes, pair in placed}


def _as_rounded(pair: PairCounts, once: Perturbation) -> PairCounts:
    """Pair counts that declare what all counts do if they declare nothing."""
    return replace(pair, perturbation=once) if pair.perturbation.is_none and not once.is_none else pair


def associations_of(entry: EntryContent, places: Sequence[int] | None = None) -> dict[int, PairAssociation]:
    """Return the associations of pairs with the label, with places and attributes as in `pairs_of`."""
    return {
        place: PairAssociation(
            attributes,
            (pair.maskings[0], pair.maskings[1]),
            float(known.chi_square),
            known.combinations,
            known.rounded_to,
            known.digits,
            _scale(known.noise),
        )
        for place, attributes, pair in _placed(entry, places)
        if (known := pair.with_label) is not None
    }


def _placed(entry: EntryContent, places: Sequence[int] | None) -> Iterator[tuple[int, tuple[int, int], PairContent]]:
    """Yield each pair of chosen attributes: its place, and the positions of its attributes among these."""
    chosen = range(len(entry.attributes)) if places is None else places
    position = {entry.attributes[place].name: index for index, place in enumerate(chosen)}
    for place, pair in enumerate(entry.pairs):
        first, second = pair.attributes
        if first in position and second in position:
            yield place, (position[first], position[second]), pair


def pair_counts(pair: PairContent, attributes: tuple[int, int]) -> PairCounts:
    """Return the counts of a pair with counts, given the positions of its attributes in the evidence."""
    known = pair.counted_with
    counted_with = None if known is None else (np.asarray(known[0], np.int64), np.asarray(known[1], np.int64))
    declared = Perturbation(_scale(pair.noise), pair.rounded_to, within=pair.within)
    joint = np.asarray(pair.joint, dtype=np.int64)
    return PairCounts(attributes, (pair.maskings[0], pair.maskings[1]), joint, declared, counted_with)


def _masking(masking: MaskingContent, records: int | None) -> Masking:
    counted = None if masking.records == records else masking.records
    return Masking(
        id=masking.id,
        groups=len(masking.domain),
        mapping=_counts(masking.mapping),
        joint=_counts(masking.joint),
        # It is a function of the value if its mapping is known, or if the provider declares it.
        deterministic=masking.mapping is not None or bool(masking.deterministic),
        perturbation=Perturbation(_scale(masking.noise), masking.rounded_to, counted),
        transition=None if masking.transition is None else np.asarray(masking.transition, dtype=np.float64),
    )


def _scale(noise: NoiseContent | None) -> float | None:
    return None if noise is None else float(noise.scale)


def _counts(published: Counts) -> IntArray | None:
    return None if published is None else np.asarray(published, dtype=np.int64)
