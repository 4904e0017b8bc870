"""What is found: of every table by itself, of all tables of an attribute together, and beside the truth."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from aegis_advisor.evidence import Perturbation

Kind = Literal["label", "histogram", "joint", "masking", "pairs"]
"""The label's histogram, an attribute's, its unmasked joint counts, those of a masking, pair counts."""


@dataclass(frozen=True)
class Cell:
    """A count and its place, in words: (masked) value and label value, or what of these the table has."""

    count: int
    place: tuple[str, ...]


@dataclass(frozen=True)
class Declared:
    """How the counts of a table are declared to differ from those of the provider's; by default not at all.

    `drawn`: chance decided which masked value a record has, so that nobody knows whose records a count is of.
    """

    noise: float | None = None
    epsilon: float | None = None
    rounded_to: int | None = None
    records: int | None = None
    drawn: bool = False

    @property
    def is_certain(self) -> bool:
        """Whether each count is of records with these values: of some at least, where others were left out."""
        return not (Perturbation(noise_scale=self.noise).is_noisy or self.rounded_to or self.drawn)


@dataclass(frozen=True)
class PublishedTable:
    """One table of counts, by itself.

    `name`: the masking's id, of pair counts both; empty where the kind says enough. `occupied`: how many of its `cells`
    are above 0. `below`: how many of these are smaller than was asked about; `smallest`: the first of the smallest.
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
class Together:
    """What all tables of an attribute say together of its cells: each atom with each label value.

    `exact`: cells that follow exactly; `empty`: those of them that certainly have no record; `in_tables`: those above 0
    that stand in a table as they are. `smallest`: the smallest cell above 0 that follows exactly, `below`: how many
    such cells are smaller than was asked about. `derived` and `derived_below`: the same of cells that no table shows,
    which only differences of tables give away. `within`: by k, how many cells are known to within k records. `alike`:
    atoms whose records certainly have one label value, `largest` the one with most records. `complete`: the bounds are
    the tightest that linear programs find; that counts are whole may still give away a few cells more.
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
    """The total variation distance of two tables, 0 to 1: of atoms and label values, and of values and label values."""

    atoms: float
    values: float


@dataclass(frozen=True)
class Comparison:
    """How far from the true joint counts one gets without seeing a record.

    `pooled`: by the reconstruction from all tables, which `converged` or did not. `margins`: by the two histograms
    alone, as if attribute and label were independent, and the attribute uniform if the entry has no histogram of it.
    """

    pooled: Distance
    margins: Distance
    converged: bool


@dataclass(frozen=True)
class AttributeDisclosure:
    """One attribute: its tables, what they say together, and how far that is from the truth, where this is given."""

    name: str
    tables: tuple[PublishedTable, ...]
    together: Together
    compared: Comparison | None

    @property
    def smallest(self) -> Cell | None:
        """The smallest count above 0 in a table that is certain; the first of several."""
        found = [each.smallest for each in self.tables if each.declared.is_certain and each.smallest is not None]
        return min(found, key=lambda cell: cell.count, default=None)

    @property
    def below(self) -> int:
        """How many counts above 0 in its tables are certain, and smaller than was asked about."""
        return sum(each.certainly_below for each in self.tables)

    @property
    def given_away(self) -> Cell | None:
        """The smallest cell that follows exactly, if it is smaller than every count above 0 of its tables."""
        cell, least = self.together.smallest, self.smallest
        return cell if cell is not None and (least is None or cell.count < least.count) else None


@dataclass(frozen=True)
class Disclosure:
    """What an entry gives away: of counts above 0 and `below` so many records, and of cells known to `within` so many.

    `epsilon`: the budget that the entry declares for all its counts together.
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
        found = Counter({"the label": self.histogram.certainly_below})
        for each in self.attributes:  # which may have the names of the others, too
            found[each.name] += each.below + each.together.derived_below
        found["pair counts"] += sum(table.certainly_below for table in self.pairs)
        return dict(+found)

    @property
    def unfinished(self) -> Sequence[str]:
        """The attributes whose bounds were stopped early, so that more of their cells may follow than was found."""
        return [each.name for each in self.attributes if not each.together.complete]
