"""What an entry gives away: by each table, by all tables of an attribute linked, and beside the truth."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from aegis_advisor.evidence import Perturbation

Kind = Literal["label", "histogram", "joint", "masking", "pairs"]
"""The label's histogram, an attribute's, its unmasked joint counts, those of a masking, pair counts."""


@dataclass(frozen=True)
class Cell:
    """A count and its place.

    Attributes:
        count: How many records.
        place: In words: (masked) value and label value, or what of these the table has.
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
        records: How many records the table counts, where some were left out.
        drawn: Chance decided which masked value a record has, so that nobody knows whose records a count is of.
    """

    noise: float | None = None
    epsilon: float | None = None
    rounded_to: int | None = None
    records: int | None = None
    drawn: bool = False

    def in_words(self) -> str:
        """How they differ; empty if they do not."""
        epsilon = "" if self.epsilon is None else f" (epsilon {self.epsilon:g})"
        reservations = [
            "" if self.noise is None else f"noise of scale {self.noise:g}{epsilon}",
            "" if self.rounded_to is None else f"rounded to {self.rounded_to}",
            "" if self.records is None else f"of {self.records} records",
            "left to chance" if self.drawn else "",
        ]
        return ", ".join(filter(None, reservations))

    @property
    def is_certain(self) -> bool:
        """Whether each count is of records with these values: of some at least, where others were left out."""
        return not (Perturbation(noise_scale=self.noise).is_noisy or self.rounded_to or self.drawn)


@dataclass(frozen=True)
class PublishedTable:
    """One table of counts, by itself.

    Attributes:
        kind: What it counts.
        name: The masking's id, of pair counts both; empty where the kind says enough.
        declared: How it differs from the provider's.
        records: The sum of its counts.
        cells: How many counts it has.
        occupied: How many of them are above 0.
        smallest: The first of the smallest of these.
        below: How many of these are smaller than was asked about.
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
        """Whether nothing is declared: its counts are those of the provider's table."""
        return self.declared == Declared()

    @property
    def certainly_below(self) -> int:
        """How many of its counts are small for certain: none where noise or rounding may have made them."""
        return self.below if self.declared.is_certain else 0


@dataclass(frozen=True)
class LinkedTables:
    """What all tables of an attribute say together of its cells: each atom with each label value.

    Attributes:
        atoms: How many groups of values no masking tells apart.
        cells: How many cells these make with the label values.
        exact: Cells that follow exactly.
        empty: Those of them that certainly have no record.
        in_tables: Those of them above 0 that stand in a table as they are.
        smallest: The smallest cell above 0 that follows exactly.
        below: How many such cells are smaller than was asked about.
        derived: As `smallest`, of cells that no table shows, which only differences of tables give away.
        derived_below: As `below`, of these.
        within: By k, how many cells are known to within k records.
        alike: Atoms whose records certainly have one label value.
        largest: The cell of the one of these with most records.
        method: How the bounds of the cells were computed.
        programs: By how many linear programs.
        complete: The bounds are the tightest that linear programs find; that counts are whole may still give away a
            few cells more.
    """

    atoms: int
    cells: int
    exact: int
    empty: int
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
        """Which share of the cells is known to within k records."""
        return self.within[k] / self.cells


@dataclass(frozen=True)
class Distance:
    """The total variation distance of two tables, 0 to 1.

    Attributes:
        atoms: Of atoms and label values.
        values: Of values and label values.
    """

    atoms: float
    values: float


@dataclass(frozen=True)
class Comparison:
    """How far from the true joint counts one gets without seeing a record.

    Attributes:
        pooled: By the reconstruction from all tables.
        margins: By the two histograms alone, as if attribute and label were independent, and the attribute uniform if
            the entry has no histogram of it.
        converged: Whether the reconstruction did.
    """

    pooled: Distance
    margins: Distance
    converged: bool


@dataclass(frozen=True)
class AttributeDisclosure:
    """What the counts of one attribute give away.

    Attributes:
        name: The attribute's.
        tables: Each of its tables by itself.
        linked: What these say together.
        compared: How far that is from the truth, where this is given.
    """

    name: str
    tables: tuple[PublishedTable, ...]
    linked: LinkedTables
    compared: Comparison | None

    @property
    def smallest(self) -> Cell | None:
        """The smallest count above 0 in a table that is certain; the first of several."""
        cells = [each.smallest for each in self.tables if each.declared.is_certain and each.smallest is not None]
        return min(cells, key=lambda cell: cell.count, default=None)

    @property
    def below(self) -> int:
        """How many counts above 0 in its tables are certain, and smaller than was asked about."""
        return sum(each.certainly_below for each in self.tables)

    @property
    def given_away(self) -> Cell | None:
        """The smallest cell that follows exactly, if it is smaller than every count above 0 of its tables."""
        cell, least = self.linked.smallest, self.smallest
        return cell if cell is not None and (least is None or cell.count < least.count) else None


@dataclass(frozen=True)
class Disclosure:
    """What an entry gives away.

    Attributes:
        entry: The entry's name.
        records: How many it counts.
        label: The label's name.
        below: Counts above 0 and smaller than this are small.
        within: How far off, in records, a cell may be known.
        epsilon: The budget that the entry declares for all its counts together.
        histogram: The label's.
        attributes: What each attribute gives away.
        pairs: The pair counts of these attributes, each table by itself.
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

    @property
    def small_and_certain(self) -> Mapping[str, int]:
        """By where they are, how many counts are small for certain: of the label, of attributes, of pair counts."""
        counts = Counter({"the label": self.histogram.certainly_below})
        for each in self.attributes:  # which may have the names of the others, too
            counts[each.name] += each.below + each.linked.derived_below
        counts["pair counts"] += sum(table.certainly_below for table in self.pairs)
        return dict(+counts)

    @property
    def unfinished(self) -> Sequence[str]:
        """The attributes whose bounds were stopped early, so that more of their cells may follow than are known to."""
        return [each.name for each in self.attributes if not each.linked.complete]
