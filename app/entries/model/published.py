"""A validated entry as published: counts as arrays, declared transfer utilities, all else by name."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.evidence import (
    AttributeEvidence,
    EntryContent,
    HoldoutContent,
    PairAssociation,
    PairCounts,
    Perturbation,
    PublishedTrace,
    TransferContent,
)
from aegis_advisor.measures import measure_named
from app.entries.model.entries import CountKind, Visibility

#: The measures in array order, and which numbers of each are better.
MEASURES: Final[Mapping[str, Literal["higher", "lower"]]] = {
    name: measure_named(name).better for name in ("mutual_information", "chi_square", "g3", "joint")
}

#: The joint measure, and the place that stands for all attributes together.
JOINT: Final = "joint"
ALL_TOGETHER: Final = -1

#: An estimate: its value and the limits of its interval.
Figure = tuple[float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Figures:
    """The transfer utilities of some releases, stored sparsely, since few may be declared.

    Attributes:
        places: (figures, 3) the release, the place of the attribute (or `ALL_TOGETHER`) and that of the measure.
        numbers: (figures, 3) the value and the limits of its interval.
    """

    places: NDArray[np.int64]
    numbers: NDArray[np.float64]

    @classmethod
    def of(cls, releases: Sequence[TransferContent | None], attributes: Sequence[str]) -> Self:
        """Collect the transfer utilities from the declared `transfer` of each release."""
        place = {name: index for index, name in enumerate(attributes)}
        found = [
            ((release, ALL_TOGETHER if name is None else place[name], list(MEASURES).index(measure)), figure)
            for release, transfer in enumerate(releases)
            for name, measure, figure in figures_in(transfer)
        ]
        return cls(
            np.array([where for where, _ in found], dtype=np.int64).reshape(-1, 3),
            np.array([figure for _, figure in found], dtype=np.float64).reshape(-1, 3),
        )

    def by(self, measure: str, attributes: Sequence[int]) -> "Self":
        """The utilities by one measure, of the attributes at these places."""
        chosen = self.places[:, 2] == list(MEASURES).index(measure)
        chosen &= np.isin(self.places[:, 1], attributes)
        return type(self)(self.places[chosen], self.numbers[chosen])

    def complete(self, attributes: Sequence[int]) -> NDArray[np.int64]:
        """The releases with a utility for each of these attributes; `self` has only one measure."""
        return np.flatnonzero(np.bincount(self.places[:, 0]) == len(attributes))

    def table(self, releases: NDArray[np.int64], attributes: Sequence[int]) -> NDArray[np.float64]:
        """The utilities (releases, attributes, 3) of complete releases; `self` has only one measure."""
        kept = np.isin(self.places[:, 0], releases)
        row = np.searchsorted(releases, self.places[kept, 0])
        column = np.searchsorted(attributes, self.places[kept, 1])
        table = np.empty((releases.size, len(attributes), 3))
        table[row, column] = self.numbers[kept]
        return table

    def best(self, measure: str, attributes: Sequence[int]) -> NDArray[np.float64]:
        """(attributes,) the best value of each, NaN without one; `self` has only one measure."""
        column = np.searchsorted(attributes, self.places[:, 1])
        best = np.full(len(attributes), np.nan)
        better = np.fmax if MEASURES[measure] == "higher" else np.fmin
        better.at(best, column, self.numbers[:, 0])
        return best


NO_FIGURES: Final = Figures(np.empty((0, 3), dtype=np.int64), np.empty((0, 3)))


def figures_in(transfer: TransferContent | None) -> Iterator[tuple[str | None, str, Figure]]:
    """The transfer utilities of a release: attribute (None: all together), measure and numbers."""
    if transfer is None:
        return
    for name, by_measure in transfer.attributes.items():
        for measure, figure in by_measure.items():
            yield name, measure, (figure.value, figure.low, figure.high)
    if (joint := transfer.joint) is not None:
        yield None, JOINT, (joint.value, joint.low, joint.high)


def nothing_by(measure: str, holdout: HoldoutContent) -> float:
    """The utility without any attribute: by g3 the error of guessing the most frequent label."""
    return float(holdout.majority_error or 0.0) if measure == "g3" else 0.0


Path = tuple[str | int, ...]
"""A path of names and indices in the published document."""


@dataclass(frozen=True, slots=True)
class DeclaredControl:
    """The controls declared for all counts of an entry; None for a control that was not applied.

    Attributes:
        drawn_once: whether the rounding was drawn once, so that counts without a declaration agree with each other.
        open_answers: whether everyone who sees the entry gets full answers, since the noise hides all counts.
        is_declared: whether the entry declares controls.
    """

    min_cell: int | None = None
    rounded_to: int | None = None
    drawn_once: bool = False
    epsilon: float | None = None
    open_answers: bool = False
    is_declared: bool = False


@dataclass(frozen=True, slots=True)
class Prices:
    """What each configuration costs, in one currency; None where it is not stated."""

    amounts: Sequence[float | None]
    currency: str


@dataclass(frozen=True, slots=True, eq=False)
class ConfigurationColumns:
    """The configurations of an entry, as columns in the given order.

    Attributes:
        privacy: by criterion, the promised number of each configuration, or None.
        suppressed: the number of suppressed records of each configuration (likewise cells, and the share of lone
            records), None if not given.
        measured: the places of the configurations with the performance of a trained model.
        generated: for each configuration whether it is generated, so that it drops every attribute; empty if none is.
        on_records: the places of other numbers measured on the records themselves.
        unguaranteed: the places of generated configurations without differential privacy.
        in_columns: whether the document has the configurations as columns of a table.
        unit: what their promises count: `PERSON`, or None for records.
        label: how each shows the label: 0 as it is, else by its first masking, its second and so on; None if the label
            has no maskings.
        price: what each costs; None if none has a price.
    """

    ids: Sequence[str]
    maskings: Mapping[str, Sequence[str]]
    privacy: Mapping[str, Sequence[float | None]]
    suppressed: Sequence[int | None] = ()
    suppressed_cells: Sequence[int | None] = ()
    alone: Sequence[float | None] = ()
    measured: Sequence[int] = ()
    generated: Sequence[bool] = ()
    on_records: Sequence[Path] = ()
    unguaranteed: Sequence[int] = ()
    figures: Figures = NO_FIGURES
    in_columns: bool = False
    unit: str | None = None
    label: Sequence[int] | None = None
    price: Prices | None = None

    @property
    def numbers_suppressed(self) -> Iterator[tuple[Path, int]]:
        """The places and values of all numbers of suppressed records and cells."""
        for name, numbers in (("suppressed", self.suppressed), ("suppressed_cells", self.suppressed_cells)):
            for index, number in enumerate(numbers):
                if number is not None:
                    yield ("configurations", index, name), number


@dataclass(frozen=True, slots=True, eq=False)
class CountsInPlace:
    """A count table (int64, one or two dimensions) and its place in the document.

    `declared` is its noise and rounding; None if nothing can be declared. `pair` is its place among pair counts.
    """

    kind: CountKind
    attribute: int | None
    masking: int | None
    counts: NDArray[np.int64]
    declared: Perturbation | None = None
    pair: int | None = None

    @property
    def path(self) -> Path:
        """Its path in the document."""
        if self.pair is not None:
            return "pairs", self.pair, "joint"
        return self.kind.path(self.attribute, self.masking)

    @property
    def is_noisy(self) -> bool:
        """Whether the declared noise is large enough to change a count."""
        return self.declared is not None and self.declared.is_noisy


@dataclass(frozen=True, slots=True, eq=False)
class PublishedEntry:
    """A validated entry.

    Attributes:
        evidence: the evidence on each attribute, at least one.
        pairs: the joint counts of pairs of masked attributes, by their places among the document's pairs.
        associations: the label associations of pairs, likewise.
        masked_records: the number of records counted by a masking, by the places of attribute and masking, if given.
        document: the document as published, for its digest and its readers, with counts as lists or arrays.
        trace: the trace of the unmasked table; None if not published.
        people: the number of people, at most `rows_per_person` records of each; None if privacy counts records.
        labels: its labels, the default one first; None for one.
        content: the content, if it has several labels or maskings of its label.
        blocks: the counts of maskings and masked labels, which stand among the pairs.
        concepts: `label` or `attribute`, and the URI of the concept of such a column.
        with_labels: the associations of pairs with other labels, and `traces` the traces of these, by their places.
    """

    name: str
    title: str
    description: str
    keywords: tuple[str, ...]
    license: str
    visibility: Visibility
    label: str
    evidence: tuple[AttributeEvidence, ...]
    pairs: Mapping[int, PairCounts]
    associations: Mapping[int, PairAssociation]
    masked_records: Mapping[tuple[int, int], int]
    control: DeclaredControl
    configurations: ConfigurationColumns
    document: dict[str, Any]
    trace: PublishedTrace | None = None
    terms: Mapping[str, Any] | None = None
    people: int | None = None
    rows_per_person: int | None = None
    labels: tuple[str, ...] | None = None
    content: EntryContent | None = None
    concepts: tuple[tuple[str, str], ...] = ()
    with_labels: Mapping[Path, PairAssociation] = field(default_factory=dict)
    traces: Mapping[Path, PublishedTrace] = field(default_factory=dict)
    blocks: Sequence[CountsInPlace] = ()

    def tables(self) -> Iterator[CountsInPlace]:
        """Every count table, with the pair counts last."""
        first = self.evidence[0]
        label = CountKind.LABEL_HISTOGRAM
        yield CountsInPlace(label, None, None, first.label_histogram, first.label_perturbation)
        for place, attribute in enumerate(self.evidence):
            if attribute.histogram is not None:
                yield CountsInPlace(CountKind.HISTOGRAM, place, None, attribute.histogram)
            if attribute.joint is not None:
                yield CountsInPlace(CountKind.JOINT, place, None, attribute.joint)
            for index, masking in enumerate(attribute.maskings):
                if masking.joint is not None:
                    kind = CountKind.MASKED_JOINT
                    yield CountsInPlace(kind, place, index, masking.joint, masking.perturbation)
        for place, pair in self.pairs.items():
            yield CountsInPlace(CountKind.PAIRS, None, None, pair.joint, pair.perturbation, pair=place)
        yield from self.blocks
