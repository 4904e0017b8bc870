"""What an entry gives away: by each table, by all tables of an attribute linked, and compared with the truth."""

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
    """A count and its place.

    Attributes:
        count: The number of records.
        place: The (masked) value and the label value in words, or only the one that the table has.
    """

    count: int
    place: tuple[str, ...]


@dataclass(frozen=True)
class Declared:
    """How the counts of a table are declared to differ from those of the provider's; by default not at all.

    Attributes:
        noise: The scale of the noise.
        epsilon: The budget that the noise took.
        rounded_to: The number that counts are multiples of.
        records: How many records the table counts, if some were left out.
        drawn: The masking is random, so nobody knows which records a count is of.
    """

    noise: float | None = None
    epsilon: float | None = None
    rounded_to: int | None = None
    records: int | None = None
    drawn: bool = False

    def in_words(self) -> str:
        """Say how the counts differ; empty if they do not."""
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
    """One table of counts by itself.

    Attributes:
        kind: What it counts.
        name: The masking's id, or both ids for pair counts; empty if the kind says enough.
        declared: How it differs from the provider's table.
        records: The sum of its counts.
        cells: How many counts it has.
        occupied: How many counts are above 0.
        smallest: The smallest count above 0; the first if there are several.
        below: How many counts above 0 are small.
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
        """How many of its counts are certainly small; 0 if noise, rounding or random masking may have made them so."""
        return self.below if self.declared.is_certain else 0


@dataclass(frozen=True)
class LinkedTables:
    """What all tables of an attribute together say about its cells: each atom with each label value.

    Attributes:
        atoms: How many atoms there are: groups of values that no masking tells apart.
        cells: How many cells the atoms make with the label values.
        exact: How many cells all tables together determine exactly.
        empty: How many exact cells certainly have no record.
        by_whole_numbers: How many exact cells follow only because counts are whole numbers.
        smallest_by_whole_numbers: The smallest of them, even if it is 0; the first if there are several.
        undecided: Of how many cells it is not known whether they follow for that reason.
        in_tables: How many exact cells above 0 appear in a table as they are.
        smallest: The smallest exact cell above 0.
        below: How many exact cells above 0 are small.
        derived: Like `smallest`, for cells that no table shows; only differences of tables give them away.
        derived_below: Like `below`, for the cells that no table shows.
        within: By k, how many cells are known to within k records.
        alike: How many atoms have records that certainly have one label value.
        largest: The cell with most records among those of `alike` atoms.
        method: How the bounds of the cells were computed.
        programs: How many linear programs were solved for them.
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
    """The total variation distance of two tables, 0 to 1.

    Attributes:
        atoms: The distance of the tables of atoms by label values.
        values: The distance of the tables of values by label values.
    """

    atoms: float
    values: float


@dataclass(frozen=True)
class Comparison:
    """How far someone who has not seen a record is from the true joint counts.

    Attributes:
        pooled: The distance of the reconstruction that uses all tables.
        margins: The distance of the two histograms alone, as if attribute and label were independent. The attribute
            is taken as uniform if the entry has no histogram of it.
        converged: Whether the reconstruction converged.
    """

    pooled: Distance
    margins: Distance
    converged: bool


@dataclass(frozen=True)
class AttributeDisclosure:
    """What the counts of one attribute give away.

    Attributes:
        name: The attribute's name.
        tables: Each of its tables by itself.
        linked: What its tables say together.
        compared: How far a guess from its tables is from the truth, if the provider's table is given.
    """

    name: str
    tables: tuple[PublishedTable, ...]
    linked: LinkedTables
    compared: Comparison | None

    @property
    def smallest(self) -> Cell | None:
        """The smallest count above 0 in tables whose counts are certain; the first if there are several."""
        cells = [each.smallest for each in self.tables if each.declared.is_certain and each.smallest is not None]
        return min(cells, key=lambda cell: cell.count, default=None)

    @property
    def below(self) -> int:
        """How many counts in its tables are certainly small."""
        return sum(each.certainly_below for each in self.tables)

    @property
    def given_away(self) -> Cell | None:
        """The smallest exact cell, if it is smaller than every certain count above 0 in its tables."""
        cell, least = self.linked.smallest, self.smallest
        return cell if cell is not None and (least is None or cell.count < least.count) else None


@dataclass(frozen=True)
class Judged:
    """The verdict on an entry.

    Attributes:
        verdict: Whether it gives small counts away, and where.
        places: The place of each finding, in words.
        options: The options of `aegis summarize` with which it would be published more safely.
    """

    verdict: Verdict
    places: tuple[str, ...]
    options: str


@dataclass(frozen=True)
class Disclosure:
    """What an entry gives away.

    Attributes:
        entry: The entry's name.
        records: How many records it counts.
        label: The label's name.
        below: Counts above 0 and smaller than this are small.
        within: Cells known to within this many records are counted too.
        epsilon: The budget that the entry declares for all its counts together.
        histogram: The label's histogram.
        attributes: What each attribute gives away.
        pairs: The pair counts of these attributes, each table by itself.
        associations: How many pairs of these attributes say what they tell of the label together; it is not examined.
        judged: Whether the entry gives small counts away; none if only some attributes were examined.
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
        """How many counts are certainly small, by place: the label, each attribute, pair counts."""
        counts = Counter({"the label": self.histogram.certainly_below})
        for each in self.attributes:  # an attribute may be called "the label" or "pair counts"
            counts[each.name] += each.below + each.linked.derived_below
        counts["pair counts"] += sum(table.certainly_below for table in self.pairs)
        return dict(+counts)

    @property
    def unfinished(self) -> Sequence[str]:
        """The attributes whose bounds stopped early, so more of their cells may be determined than reported."""
        return [each.name for each in self.attributes if not each.linked.complete]
