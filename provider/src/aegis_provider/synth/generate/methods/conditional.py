"""Conditional distributions of levels in groups of records."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from aegis_provider.synth.generate.levels import Codes


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
