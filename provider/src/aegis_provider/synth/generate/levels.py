"""Levels for generators, and distributions of them: groups of an attribute's values with enough records each.

A generator learns only the levels of records. A level of numbers is an interval; a generated number is drawn from it,
with as many decimals as several records have. Rare categories share one level, and generated records of that level get
a frequent category. So no generated value discloses that a rare value occurs.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_provider.errors import TableError, shortened
from aegis_provider.records import NUMERIC, Column
from aegis_provider.table.values import MISSING, ValueType

_MOST_DIGITS: Final = 18


@dataclass(frozen=True, eq=False)
class Units:
    """The values of an ordered attribute in units of its last decimal, or in days.

    Attributes:
        of_value: (values,) Each value in units; 0 where it is missing.
        decimals: The decimals of a number; `None` if the units are days.
    """

    of_value: NDArray[np.int64]
    is_missing: NDArray[np.bool_]
    decimals: int | None

    @classmethod
    def of(cls, column: Column, fewest: int) -> Self | None:
        """Return the units of a column; `None` if its values are neither numbers nor dates.

        Numbers have as many decimals as those of at least `fewest` records, so that decimals disclose no rare number.
        """
        domain = column.domain
        is_missing = np.array([key is None for key in domain.keys], dtype=bool)
        if domain.value_type == ValueType.DATE:
            days = [0 if key is None else key.toordinal() for key in domain.keys]
            return cls(np.array(days, dtype=np.int64), is_missing, None)
        if domain.value_type not in NUMERIC:
            return None
        present = np.flatnonzero(~is_missing)
        decimals = _decimals([domain.keys[place] for place in present], column.counts[present], fewest)
        units = [0 if key is None else round(key.scaleb(decimals)) for key in domain.keys]
        return cls(np.array(units, dtype=np.int64), is_missing, decimals)

    def text(self, unit: int) -> str:
        """Return a number of units as the table writes it."""
        if self.decimals is None:
            return dt.date.fromordinal(unit).isoformat()
        return f"{Decimal(unit).scaleb(-self.decimals):f}"


def _decimals(numbers: Sequence[Decimal], counts: NDArray[np.int64], fewest: int) -> int:
    """Return the maximum decimals of numbers in at least `fewest` records, limited to 18 digits in total."""
    decimals = np.array([-min(0, int(number.as_tuple().exponent)) for number in numbers], dtype=np.intp)
    order = np.argsort(-decimals, kind="stable")
    enough = np.flatnonzero(np.cumsum(counts[order]) >= fewest)
    usual = int(decimals[order[enough[0]]]) if len(enough) else 0
    largest = max((number.adjusted() + 1 for number in numbers if number), default=0)
    return min(usual, _MOST_DIGITS - largest)


Codes: TypeAlias = NDArray[np.intp]
"""Levels by their numbers from 0."""

Texts: TypeAlias = NDArray[np.object_]
"""Values as texts, `""` where missing."""

FEWEST: Final = 5
"""Minimum records of a level, except the missing value's."""

MOST: Final = 32
"""Approximate maximum levels of an ordered attribute, apart from those of missing and of frequent numbers."""


class Decoder(Protocol):
    """Draws values of levels."""

    def drawn(self, codes: Codes, rng: np.random.Generator) -> Texts:
        """(records,) Return a value of each record's level."""
        ...


@dataclass(frozen=True, eq=False)
class Levels:
    """The levels of an attribute.

    Attributes:
        of_value: (values of the domain,) The level of each value.
        shares: (levels,) The share of the training records in each level.
        positions: (levels,) The position of a level of numbers: the share of training records below it plus half of
            those in it, 0 for missing numbers. `None` for categories.
    """

    name: str
    of_value: Codes
    shares: NDArray[np.float64]
    positions: NDArray[np.float64] | None
    missing: int | None
    decoder: Decoder

    @property
    def size(self) -> int:
        """How many levels there are."""
        return len(self.shares)

    def encode(self, column: Column) -> Codes:
        """(records,) The level of each record's value; the column has the domain from which the levels were made."""
        return self.of_value[column.places]


def levels_of(column: Column, fewest: int = FEWEST) -> Levels:
    """Return the levels of a column of the training records.

    Raises:
        TableError: The column has categories only with fewer records.
    """
    units = Units.of(column, fewest)
    return _of_categories(column, fewest) if units is None else _of_numbers(column, units, fewest)


@dataclass(frozen=True, eq=False)
class Categories:
    """Levels of frequent categories; a level beyond these stands for all of them."""

    texts: Texts
    shares: NDArray[np.float64]

    def drawn(self, codes: Codes, rng: np.random.Generator) -> Texts:
        """(records,) Return the category of each record's level."""
        instead = rng.choice(len(self.texts), len(codes), p=self.shares)
        return self.texts[np.where(codes < len(self.texts), codes, instead)]


@dataclass(frozen=True, eq=False)
class Stretches:
    """Numbers from `low` to `high`, in units, for each level; levels below `first` are missing values."""

    units: Units
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    first: int

    def drawn(self, codes: Codes, rng: np.random.Generator) -> Texts:
        """(records,) Return a number of each record's level."""
        is_number = codes >= self.first
        drawn = rng.integers(self.low[codes], self.high[codes] + 1)[is_number]
        numbers, of_record = np.unique(drawn, return_inverse=True)
        texts = np.full(len(codes), MISSING, dtype=object)
        texts[is_number] = np.array([self.units.text(int(number)) for number in numbers], dtype=object)[of_record]
        return texts


def _of_categories(column: Column, fewest: int) -> Levels:
    frequent = np.flatnonzero(column.counts >= fewest)
    if not len(frequent):
        raise TableError(
            f"{shortened(column.name)}: none of its {len(column.domain):,} values has {fewest} records, so each would "
            "point to somebody; leave the column out of the plan"
        )
    weights, is_whole = column.counts[frequent], len(frequent) == len(column.domain)
    counts = weights if is_whole else np.append(weights, column.counts.sum() - weights.sum())
    return of_frequent(column, frequent, weights, counts / max(1, len(column.places)))


def of_frequent(
    column: Column, frequent: Codes, weights: NDArray[np.float64 | np.int64], shares: NDArray[np.float64]
) -> Levels:
    """Return a level for each frequent value, then one for all others, which are generated as frequent ones.

    Args:
        frequent: (levels,) The places of the frequent values, at least one.
        weights: (levels,) The relative frequency of each in place of the others.
        shares: The share of records of each level, and of the others, if any.
    """
    of_value = np.full(len(column.domain), len(frequent), dtype=np.intp)
    of_value[frequent] = np.arange(len(frequent))
    texts = np.array([column.domain.texts[place] for place in frequent], dtype=object)
    missing = np.flatnonzero(texts == MISSING)
    decoder = Categories(texts, weights / weights.sum())
    return Levels(column.name, of_value, shares, None, int(missing[0]) if len(missing) else None, decoder)


def _of_numbers(column: Column, units: Units, fewest: int) -> Levels:
    present = np.flatnonzero(~units.is_missing)
    if column.counts[present].sum() < fewest:
        return of_nothing(column)
    first = int(column.missing is not None and column.counts[column.missing] >= fewest)
    counts = column.counts[present]
    infrequent = counts[counts < counts.sum() / MOST]
    wanted = max(
        fewest, -(-int(infrequent.sum()) // MOST)
    )  # in an interval, for `MOST` of them beside frequent numbers
    stretch = stretches(counts, wanted, fewest)
    of_value = np.zeros(len(column.domain), dtype=np.intp)
    of_value[present] = first + stretch
    size = first + int(stretch.max()) + 1
    shares = np.bincount(of_value, column.counts, size) / max(1, len(column.places))
    low, high = _limits(units.of_value[present], counts, stretch, fewest)
    nothing = np.zeros(first, dtype=np.int64)
    decoder = Stretches(units, np.append(nothing, low), np.append(nothing, high), first)
    return Levels(column.name, of_value, shares, positions_of(shares, first), 0 if first else None, decoder)


def of_nothing(column: Column) -> Levels:
    """Return a single level of missing values, for numbers in too few records."""
    decoder = Categories(np.array([MISSING], dtype=object), np.ones(1))
    return Levels(column.name, np.zeros(len(column.domain), dtype=np.intp), np.ones(1), None, 0, decoder)


def positions_of(shares: NDArray[np.float64], first: int) -> NDArray[np.float64]:
    """(levels,) Return the positions of levels of numbers by their shares; levels before `first` are missing values."""
    present = shares[first:] / max(shares[first:].sum(), np.finfo(float).tiny)
    return np.append(np.zeros(first), np.cumsum(present) - present / 2)


def stretches(counts: NDArray[np.int64], wanted: int, fewest: int) -> Codes:
    """(values,) Return the interval of each value, in order; it has `wanted` records, or is one value with more."""
    stretch, current, inside = np.zeros(len(counts), dtype=np.intp), 0, 0
    for place, count in enumerate(counts):
        if inside and (inside >= wanted or (count >= wanted and inside >= fewest)):
            current, inside = current + 1, 0
        stretch[place] = current
        inside += int(count)
    if current and inside < fewest:
        stretch[stretch == current] = current - 1
    return stretch


def _limits(
    units: NDArray[np.int64], counts: NDArray[np.int64], stretch: Codes, fewest: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(intervals,) The lowest and the highest number of each; `fewest` records lie at or beyond the outermost."""
    below, above = np.cumsum(counts), np.cumsum(counts[::-1])[::-1]
    seen = np.flatnonzero((below >= fewest) & (above >= fewest) & (counts > 0))
    shown = units[seen] if len(seen) else units[np.searchsorted(below, [(below[-1] + 1) // 2])]
    ends = np.flatnonzero(np.diff(stretch, append=-1))
    starts = np.append(0, ends[:-1] + 1)
    return np.clip(units[starts], shown[0], shown[-1]), np.clip(units[ends], shown[0], shown[-1])


@dataclass(frozen=True, eq=False)
class Conditional:
    """The distribution of a level in each of several groups. Only cells with positive weight are stored.

    Attributes:
        levels: (cells,) The level of each cell, ascending in each group.
        below: (cells + 1,) The weight of all cells before each cell, and of all.
        first: (groups + 1,) The first cell of each group, and the number of cells.
    """

    levels: Codes
    below: NDArray[np.float64]
    first: Codes

    @classmethod
    def of_records(cls, group: Codes, level: Codes, groups: int) -> Self:
        """Count the records of each level in each group; `group` and `level` have an element for each record."""
        size = int(level.max(initial=0)) + 1
        cells, counts = np.unique(group * size + level, return_counts=True)
        return cls.of_cells(cells // size, cells % size, counts.astype(np.float64), groups)

    @classmethod
    def of_table(cls, weights: NDArray[np.float64]) -> Self:
        """(groups, levels) Take the weights of a table, none of which is negative."""
        group, level = np.nonzero(weights)
        return cls.of_cells(group, level, weights[group, level], len(weights))

    @classmethod
    def of_cells(cls, group: Codes, level: Codes, weights: NDArray[np.float64], groups: int) -> Self:
        """Take the positive weight of each cell; cells are ordered by group, then by level."""
        return cls(level, np.append(0.0, np.cumsum(weights)), np.searchsorted(group, np.arange(groups + 1)))

    def shares(self, size: int) -> NDArray[np.float64]:
        """(groups, size) Return the share of each level in each group."""
        cells = np.diff(self.first)
        shares = np.zeros((len(cells), size))
        shares[np.repeat(np.arange(len(cells)), cells), self.levels] = np.diff(self.below)
        return np.asarray(shares / np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(float).tiny))

    def drawn(self, group: Codes, at: NDArray[np.float64]) -> Codes:
        """(records,) Return a level for each record.

        Args:
            group: (records,) The group of each record, which has a cell with positive weight.
            at: (records,) In [0, 1): the quantile of the level in its group.
        """
        low, high = self.below[self.first[group]], self.below[self.first[group + 1]]
        cell = np.searchsorted(self.below, low + at * (high - low), side="right") - 1
        return self.levels[np.clip(cell, self.first[group], self.first[group + 1] - 1)]


def spread(group: Codes, rng: np.random.Generator) -> NDArray[np.float64]:
    """(records,) Return random numbers in [0, 1) spread evenly over each group.

    Each is uniform, but a group of n records has one in each n-th of [0, 1), in random order. A level with share p is
    thus drawn n p times, with an error below two (stratified sampling, Cochran 1977, chapter 5).
    """
    order = rng.permutation(len(group))
    order = order[np.argsort(group[order], kind="stable")]
    counts = np.bincount(group)
    rank = np.empty(len(group))
    rank[order] = np.arange(len(group)) - (np.cumsum(counts) - counts)[group[order]]
    return np.minimum((rank + rng.random(len(group))) / counts[group], np.nextafter(1.0, 0.0))
