"""Counts of two groupings and the label together, and their results: joint counts, and the association with the label.

They are not published: an entry has no count of three columns.
"""

from dataclasses import dataclass
from math import prod
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counts import Counts, Places

# Up to this many cells, a dense table is faster than a search for nonempty cells.
_MANY_CELLS = 4_000_000

LEAST: Final = 20
"""The fewest records of a combination that is not pooled with others where counts are rounded."""

UNIT: Final = 2**20
"""The units of label sums per record. With up to 2^43 records, every sum is a whole number of 64 bits."""

LabelSums: TypeAlias = tuple[int, ...]
"""For each label value, the sum of its squared counts in combinations over the counts of these, in units.

`S_j = sum_i n_ij^2 / n_i`, with the records `n_i` of combination `i` and `n_ij` of them with label value `j`. Each term
is rounded down to a whole number of 1 / `UNIT` records.
"""


@dataclass(frozen=True)
class LabelAssociation:
    """The association of the combinations that occur with the label.

    Attributes:
        chi_square: Pearson's.
        combinations: the number that occur.
        sums: the label sums, which determine chi-square given the records of each label value; noise is added to these.
    """

    chi_square: float
    combinations: int
    sums: LabelSums


@dataclass(frozen=True, eq=False)
class PairCells:
    """The combinations of two groups and a label value that occur.

    Attributes:
        first: (cells,) the group by the first grouping.
        second: (cells,) the group by the second.
        label: (cells,) the place of the label value.
        counts: (cells,) the number of records; combinations may repeat, and are then summed.
        shape: the sizes of the groupings and of the label's domain.
    """

    first: Places
    second: Places
    label: Places
    counts: Counts
    shape: tuple[int, int, int]

    def fold(self, rows: Places, columns: Places, shape: tuple[int, int]) -> "PairCells":
        """Return the counts of coarser groupings, given the coarser group of each group, and their sizes."""
        return PairCells(rows[self.first], columns[self.second], self.label, self.counts, (*shape, self.shape[2]))

    def exchanged(self, side: int) -> "PairCells":
        """Return the same counts with the label in the place of one of the groupings, and that one as the label."""
        first, second, label = self.shape
        if side == 0:
            return PairCells(self.label, self.second, self.first, self.counts, (label, second, first))
        return PairCells(self.first, self.label, self.second, self.counts, (first, label, second))

    def joint(self) -> Counts:
        """Return (groups, groups) the joint counts of the two."""
        cells = self.first * self.shape[1] + self.second
        counts = np.zeros(self.shape[0] * self.shape[1], dtype=np.int64)
        np.add.at(counts, cells, self.counts)
        return counts.reshape(self.shape[:2])

    def with_label(self) -> LabelAssociation:
        """Return the association of the two with the label.

        A cell with `n` records, where `c` and `y` are the records of its combination and of its label value, adds
        `(n N - c y)^2 / (N c y)`. Cells without records add `c / N` times the records of all label values that their
        combination lacks. Up to 94 million records, whose square a float holds exactly, no difference of rounded
        numbers is taken; with more, the relative error is about 1e-16 times the root of the records.
        """
        combination, label, counts = self._summed()
        of_label = np.bincount(label, counts, self.shape[2])
        of_combination = np.bincount(combination, counts)
        records, size = float(counts.sum()), of_combination.size
        expected = of_combination[combination] * of_label[label]
        chi_square = float(np.sum(np.square(counts * records - expected) / expected) / records)
        lacking = records - np.bincount(combination, of_label[label])
        chi_square += float(np.sum(of_combination * lacking)) / records
        most = records * min(int(np.count_nonzero(of_label)) - 1, size - 1)
        whole, of_each = counts.astype(np.int64), of_combination.astype(np.int64)[combination]
        if int(whole.max(initial=0)) ** 2 * UNIT >= 2**63:  # whole numbers without limit are slower
            terms = np.array(whole.astype(object) ** 2 * UNIT // of_each, dtype=np.int64)
        else:
            terms = np.square(whole) * UNIT // of_each
        sums = np.zeros(self.shape[2], dtype=np.int64)
        np.add.at(sums, label, terms)
        return LabelAssociation(min(chi_square, most), size, tuple(sums.tolist()))

    def without_rare(self, least: int = LEAST) -> "PairCells":
        """Pool the combinations with fewer than `least` records.

        The rarest of the others join the pool until it has as many. A record of a label value with few records changes
        chi-square most in a combination with few records.
        """
        held, combination = np.unique(self.first * self.shape[1] + self.second, return_inverse=True)
        records = np.bincount(combination, self.counts, held.size)
        order = np.argsort(records, kind="stable")
        number, ascending = np.arange(records.size), records[order]
        if ascending[0] < least:
            enough = int(np.searchsorted(np.cumsum(ascending), least)) + 1
            number[order[: max(enough, int(np.searchsorted(ascending, least)))]] = order[0]
        nothing = np.zeros_like(combination)
        return PairCells(number[combination], nothing, self.label, self.counts, (held.size, 1, self.shape[2]))

    def _summed(self) -> tuple[Places, Places, NDArray[np.float64]]:
        """Return each combination that occurs, numbered from 0, with each of its label values, and the records."""
        labels = self.shape[2]
        cells = (self.first * self.shape[1] + self.second) * labels + self.label
        if prod(self.shape) <= _MANY_CELLS:
            table = np.bincount(cells, self.counts, prod(self.shape))
            cells = np.flatnonzero(table)
            counts = table[cells]
        else:
            cells, place = np.unique(cells, return_inverse=True)
            counts = np.bincount(place, self.counts)
        _, combination = np.unique(cells // labels, return_inverse=True)
        return combination, cells % labels, counts.astype(np.float64)
