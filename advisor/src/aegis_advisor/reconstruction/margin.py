"""A margin: sums of an unknown table that are known, exactly or not."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray, fold

HOPELESS = 10.0
"""A count that varies by this many times all records says next to nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Margin:
    """Sums over some atoms that are known: those of a masked view, or some of its groups.

    Attributes:
        atoms: (members,) the atoms that it speaks of.
        group_of: (members,) the group of each of them, below the number of groups.
        counts: (groups, labels) what the atoms of a group add up to.
        share: (members,) how much of an atom's records is in the group, where the masking draws the group by
            chance: the entries of its transition matrix; an atom then is a member of several groups. None: all.
        variance: (groups, labels) the variance of each count, 0 where it is exact; None: all are exact.
    """

    atoms: IntArray
    group_of: IntArray
    counts: FloatArray
    share: FloatArray | None = None
    variance: FloatArray | None = None

    @property
    def groups(self) -> int:
        """The number of groups."""
        return int(self.counts.shape[0])

    def of(self, table: FloatArray) -> FloatArray:
        """These sums (groups, labels) of a table (atoms, labels)."""
        held = table[self.atoms]
        return fold(held if self.share is None else held * self.share[:, np.newaxis], self.group_of, self.groups)

    def tempered(self, records: float) -> Self:
        """The same margin with counts in reach of the records, where noise has taken them far beyond.

        Of a count whose deviation is many times the records only the slope of its likelihood between 0 and all
        records matters, and that is kept; rounding errors of the count itself would exceed what a fit asks for.
        """
        if self.variance is None:
            return self
        variance = np.minimum(self.variance, (HOPELESS * records) ** 2)
        part = np.divide(variance, self.variance, out=np.ones_like(variance), where=self.variance > 0)
        middle = records / 2
        return replace(self, counts=middle + (self.counts - middle) * part, variance=variance)

    @property
    def is_exact(self) -> bool:
        """Whether it is met to the last record: it adds up whole atoms, and no count of it is uncertain."""
        return self.share is None and self.variance is None

    def residual(self, table: FloatArray) -> float:
        """The largest difference of an exact count from that of a table (atoms, labels), in records."""
        gaps = np.abs(self.of(table) - self.counts)
        return float(gaps.max(initial=0.0, where=True if self.variance is None else self.variance == 0))
