"""The disclosure of an entry: by each table, by all tables of an attribute linked, and compared with the truth."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from aegis_advisor.evidence import Perturbation
from aegis_sdk.wire import Verdict

Kind = Literal["label", "histogram", "joint", "masking", "pairs"]
"""The label's histogram, an attribute's histogram, its unmasked joint counts, a masking's joint counts, pair counts."""


@dataclass(frozen=True)
class Cell:
    """A count, and its place: the (masked) value and the label value in words, as far as the table has them."""

    count: int
    place: tuple[str, ...]


@dataclass(frozen=True)
class Declared:
    """The declared differences of a table's counts from the provider's; by default none.

    Attributes:
        noise: The scale of the noise.
        epsilon: The budget spent on the noise.
        records: The number of counted records, if some were left out.
        drawn: Whether the masking is random, so that the records behind a count are unknown.
    """

    noise: float | None = None
    epsilon: float | None = None
    rounded_to: int | None = None
    records: int | None = None
    drawn: bool = False

    def in_words(self) -> str:
        """Describe the differences; empty without any."""
        epsilon = "" if self.epsilon is None else f" (epsilon {self.epsilon:g})"
        reservations = [
            "" if self.noise is None else f"noise of scale {self.noise:g}{epsilon}",
            "" if self.rounded_to is None else f"rounded to {self.rounded_to}",
            "" if self.records is None else f"of {self.records} records",
            "masked at random" if self.drawn else "",
        ]
        return ", ".join(filter(None, reservations))

    @property
    def is_certain(self) -> bool:
        """Whether each count certainly counts records with these values; some of them may be left out."""
        return not (Perturbation(noise_scale=self.noise).is_noisy or self.rounded_to or self.drawn)


@dataclass(frozen=True)
class PublishedTable:
    """A single table of counts.

    Attributes:
        name: The masking's id, or both ids for pair counts; empty if the kind says enough.
        occupied: The number of counts above 0.
        smallest: The smallest count above 0; the first if there are several.
    """

    kind: Kind
    name: str
    declared: Declared
    records: int
    cells: int
    occupied: int
    smallest: Cell | None
    below: int

    @property
    def is_plain(self) -> bool:
        """Whether it declares no difference from the provider's table."""
        return self.declared == Declared()

    @property
    def certainly_below(self) -> int:
        """The number of certainly small counts; 0 if noise, rounding or random masking may have made them small."""
        return self.below if self.declared.is_certain else 0


@dataclass(frozen=True)
class LinkedTables:
    """The limits of an attribute's cells, each atom with each label value, by all its tables together.

    Attributes:
        atoms: The number of atoms: groups of values that no masking separates.
        exact: The number of cells that all tables together determine exactly.
        empty: The number of exact cells without records.
        by_whole_numbers: The number of exact cells that follow only because counts are whole numbers.
        smallest_by_whole_numbers: The smallest of these, possibly 0; the first if there are several.
        undecided: The number of cells for which this was not decided.
        in_tables: The number of exact cells above 0 that a table shows directly.
        smallest: The smallest exact cell above 0.
        below: The number of small exact cells above 0.
        derived: Like `smallest`, for cells that no table shows; only differences of tables disclose them.
        derived_below: Like `below`, for the cells that no table shows.
        within: By k, the number of cells known to within k records.
        alike: The number of atoms whose records certainly have a single label value.
        largest: The cell with most records among those of `alike` atoms.
        complete: Whether the bounds are the tightest that linear programs find.
    """

    atoms: int
    cells: int
    exact: int
    empty: int
    by_whole_numbers: int
    smallest_by_whole_numbers: Cell | None
    undecided: int
    in_tables: int
    smallest: Cell | None
    below: int
    derived: Cell | None
    derived_below: int
    within: Mapping[int, int]
    alike: int
    largest: Cell | None
    method: str
    programs: int
    complete: bool

    def share_within(self, k: int) -> float:
        """Return the share of the cells that are known to within k records."""
        return self.within[k] / self.cells


@dataclass(frozen=True)
class Distance:
    """The total variation distance of two tables, 0 to 1."""

    atoms: float
    values: float


@dataclass(frozen=True)
class Comparison:
    """The distance of guesses from the entry alone to the true joint counts.

    Attributes:
        pooled: The distance of the reconstruction that uses all tables.
        margins: The distance of the two histograms alone, as if attribute and label were independent. The attribute is
            assumed uniform if the entry has no histogram of it.
    """

    pooled: Distance
    margins: Distance
    converged: bool


@dataclass(frozen=True)
class AttributeDisclosure:
    """The disclosure of one attribute's counts with a label.

    Attributes:
        other_label: The label; none if it is the default one.
        tables: Each table of both; those with the default label include the attribute's histogram.
        compared: With the truth, if the provider's table is given and the label is the default one.
    """

    name: str
    other_label: str | None
    tables: tuple[PublishedTable, ...]
    linked: LinkedTables
    compared: Comparison | None

    @property
    def subject(self) -> str:
        """The attribute, with the label unless that is the default one."""
        return self.name if self.other_label is None else f"{self.name} with {self.other_label}"

    @property
    def smallest(self) -> Cell | None:
        """The smallest count above 0 in tables whose counts are certain; the first if there are several."""
        cells = [table.smallest for table in self.tables if table.declared.is_certain and table.smallest is not None]
        return min(cells, key=lambda cell: cell.count, default=None)

    @property
    def below(self) -> int:
        """The number of certainly small counts in its tables."""
        return sum(table.certainly_below for table in self.tables)

    @property
    def given_away(self) -> Cell | None:
        """The smallest exact cell, if it is smaller than every certain count above 0 in its tables."""
        cell, least = self.linked.smallest, self.smallest
        return cell if cell is not None and (least is None or cell.count < least.count) else None


@dataclass(frozen=True)
class Judged:
    """The verdict on an entry.

    Attributes:
        places: The place of each finding, in words.
        options: The options of `aegis summarize` for a safer entry.
    """

    verdict: Verdict
    places: tuple[str, ...]
    options: str


@dataclass(frozen=True)
class Disclosure:
    """The disclosure of an entry.

    Attributes:
        below: Counts above 0 and smaller than this are small.
        within: Cells known to within this many records are counted too.
        epsilon: The budget that the entry declares for all its counts together.
        attributes: Each with the default label, and then with each other one.
        pairs: The other pair counts of these attributes, each table alone.
        associations: The number of pairs of these attributes with an association with the label; these are not
            examined.
        judged: Whether the entry discloses small counts; none if only some attributes were examined.
    """

    entry: str
    records: int
    label: str
    below: int
    within: int
    epsilon: float | None
    histogram: PublishedTable
    attributes: tuple[AttributeDisclosure, ...]
    pairs: tuple[PublishedTable, ...]
    associations: int
    judged: Judged | None = None

    @property
    def small_and_certain(self) -> Mapping[str, int]:
        """The number of certainly small counts, by place: the label, each attribute, pair counts."""
        counts = Counter({"the label": self.histogram.certainly_below})
        for attribute in self.attributes:  # an attribute may be called "the label" or "pair counts"
            counts[attribute.subject] += attribute.below + attribute.linked.derived_below
        counts["pair counts"] += sum(table.certainly_below for table in self.pairs)
        return dict(+counts)

    @property
    def unfinished(self) -> Sequence[str]:
        """The attributes whose bounds stopped early, so more of their cells may be determined than reported."""
        return [attribute.subject for attribute in self.attributes if not attribute.linked.complete]
