"""Pairs of values that occur together: which pairs contradict a table, and which a model may draw.

Categories, and numbers with few values, count one by one; other numbers in groups of equally many records.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from aegis_provider.records import Column
from aegis_provider.synth.generate.levels import Codes, Levels, stretches
from aegis_provider.table.values import Domain, Key

_MOST_GROUPS: Final = 20
"""The most groups of numbers by which records are judged; fewer different numbers count one by one."""

_EXPECTED: Final = 10
"""If so many records are expected to have two values of independent columns, it is hardly chance (1 in 20,000) that
none has. A column has as many groups as leave that many in each pair."""

_FINER: Final = 2
"""Models draw from this many times finer groups, which lie mostly within those by which they are judged."""

_USUAL: Final = 0.9
"""If this share of the records of each of two values has pairs that enough records have, the lack of both together
tells something: they have others. Values with many records count as such where this share of all records has."""

_TELLING: Final = 5
"""So does it if so many records would have both in independent columns. All other rare pairs may be drawn, whether
records have them or not, so that none that is drawn proves a record."""

_MOST_CELLS: Final = 1 << 22
"""A pair of columns with more cells restricts no drawing, only what is kept of it."""


@dataclass(frozen=True, eq=False)
class Grouping:
    """The groups of a column's values.

    Attributes:
        by_key: The group of each value; of numbers in `edges`, that of missing ones.
        edges: The lowest number of each further group but the first; `None` if all values are in `by_key`.
    """

    by_key: Mapping[Key, int]
    edges: NDArray[np.float64] | None

    @classmethod
    def of(cls, column: Column, finer: int = 1) -> Self:
        """Return the groups of values that occur; `finer` multiplies the pairs of two columns and the most groups."""
        occur, numbers, most = np.flatnonzero(column.counts), column.numbers, _MOST_GROUPS * finer
        if numbers is None or len(occur) <= most:
            return cls({column.domain.keys[place]: group for group, place in enumerate(occur)}, None)
        present = occur[~np.isnan(numbers[occur])]
        counts = column.counts[present]
        groups = np.clip(np.sqrt(len(column.places) * finer / _EXPECTED), 2, most)
        group = stretches(counts, int(np.ceil(counts.sum() / groups)), 1)
        return cls({None: 0}, numbers[present][np.flatnonzero(np.diff(group)) + 1])

    @property
    def size(self) -> int:
        """How many groups there are."""
        return len(self.by_key) + (0 if self.edges is None else len(self.edges) + 1)

    def of_values(self, domain: Domain, numbers: NDArray[np.float64] | None) -> Codes:
        """(values,) Return the group of each value of a domain; -1 for a value that does not occur."""
        groups = np.array([self.by_key.get(key, -1) for key in domain.keys], dtype=np.intp)
        if self.edges is None or numbers is None:
            return groups
        return np.where(np.isnan(numbers), groups, 1 + np.searchsorted(self.edges, numbers, side="right"))

    def encode(self, column: Column) -> Codes:
        """(records,) Return the group of each record's value."""
        return self.of_values(column.domain, column.numbers)[column.places]


@dataclass(frozen=True, eq=False)
class Cells:
    """Pairs of groups of two columns that enough records have, and of which others the lack is telling.

    Attributes:
        size: The groups of the second column.
        known: The pairs that enough records have, ascending: the first group times `size`, plus the second.
        are_usual: Of each column, (groups,) whether most of a group's records have such pairs.
        shares: Of each column, (groups,) the share of the records.
        telling: The share of records from which on independent values would hardly lack a pair.
    """

    size: int
    known: NDArray[np.int64]
    are_usual: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    shares: tuple[NDArray[np.float64], NDArray[np.float64]]
    telling: float

    @classmethod
    def of(cls, codes: tuple[Codes, Codes], sizes: tuple[int, int], fewest: int) -> Self:
        """Count the pairs of (records,) codes; those that at least `fewest` records have are known."""
        cells, place, counts = np.unique(codes[0] * sizes[1] + codes[1], return_inverse=True, return_counts=True)
        is_known = (counts >= fewest)[place].astype(np.float64)
        usual, shares = [], []
        for code, size in zip(codes, sizes, strict=True):
            records = np.bincount(code, minlength=size)
            known_records = np.bincount(code, is_known, minlength=size)
            frequent = (is_known.mean() >= _USUAL) & (records >= fewest * max(sizes))
            usual.append((known_records >= _USUAL * records) | frequent)
            shares.append(records / len(code))
        return cls(
            sizes[1], cells[counts >= fewest], (usual[0], usual[1]), (shares[0], shares[1]), _TELLING / len(codes[0])
        )

    def lacking(self, one: Codes, other: Codes) -> NDArray[np.bool_]:
        """(records,) Return whether each pair is unknown, though these groups usually have others, or would have it."""
        usual = self.are_usual[0][one] & self.are_usual[1][other]
        should = self.shares[0][one] * self.shares[1][other] >= self.telling
        return (usual | should) & np.isin(one * self.size + other, self.known, invert=True)


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs of groups that records have, for each two columns by their places."""

    names: tuple[str, ...]
    groupings: tuple[Grouping, ...]
    cells: Mapping[tuple[int, int], Cells]

    @classmethod
    def of(cls, columns: Sequence[Column], fewest: int = 1) -> Self:
        """Return the pairs that at least `fewest` records have; see `Cells.of`."""
        groupings = tuple(Grouping.of(column, 1 if fewest == 1 else _FINER) for column in columns)
        codes = [grouping.encode(column) for grouping, column in zip(groupings, columns, strict=True)]
        cells = {
            (one, other): Cells.of((codes[one], codes[other]), (groupings[one].size, groupings[other].size), fewest)
            for one, other in combinations(range(len(columns)), 2)
        }
        return cls(tuple(column.name for column in columns), groupings, cells)

    def lacking(self, columns: Mapping[str, Column]) -> NDArray[np.bool_]:
        """(records,) Return whether each record has a pair of values that is not known; of the given columns only."""
        codes = {
            place: self.groupings[place].encode(columns[name])
            for place, name in enumerate(self.names)
            if name in columns
        }
        lacking = np.zeros(len(next(iter(codes.values()))), dtype=bool)
        for each in codes.values():
            lacking |= each < 0
        for (one, other), cells in self.cells.items():
            if one in codes and other in codes:
                lacking |= cells.lacking(codes[one], codes[other])
        return lacking

    def supports(
        self, columns: Sequence[Column], levels: Sequence[Levels], others: Collection[str]
    ) -> dict[tuple[int, int], NDArray[np.bool_]]:
        """Return (levels, levels) whether two levels may be drawn together, for pairs of columns where some may not.

        Args:
            columns: The columns from which this was made.
            others: Columns that have levels of something else.
        """
        within = {
            place: _within(columns[place], levels[place], grouping)
            for place, grouping in enumerate(self.groupings)
            if self.names[place] not in others
        }
        supports = {}
        for (one, other), cells in self.cells.items():
            sizes = self.groupings[one].size, self.groupings[other].size
            is_large = max(sizes[0] * sizes[1], levels[one].size * levels[other].size) > _MOST_CELLS
            if is_large or not within.keys() >= {one, other}:
                continue
            known = ~cells.lacking(*np.divmod(np.arange(sizes[0] * sizes[1]), sizes[1])).reshape(sizes)
            support = within[one] @ known.astype(np.float32) @ within[other].T > 0
            if not support.all():
                supports[one, other] = support
        return supports


def _within(column: Column, levels: Levels, grouping: Grouping) -> NDArray[Any]:
    """(levels, groups) Return 1 where a level has a value of a group."""
    within = np.zeros((levels.size, grouping.size), dtype=np.float32)
    occur = np.flatnonzero(column.counts)
    within[levels.of_value[occur], grouping.of_values(column.domain, column.numbers)[occur]] = 1
    return within
