"""How many equivalence classes there are of each size: all that re-identification and suppression depend on."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aegis_provider.counting.counts import Counts
from aegis_provider.privacy.classes import Classes


@dataclass(frozen=True, eq=False)
class ClassSizes:
    """`sizes`: (distinct sizes,) in records, ascending, from 1; `classes`: (distinct sizes,) how many have each."""

    sizes: Counts
    classes: Counts

    @classmethod
    def of(cls, classes: Classes) -> "ClassSizes":
        """Counts the classes of each size."""
        sizes, counts = np.unique(classes.sizes, return_counts=True)
        return cls(sizes, counts.astype(np.int64))

    @property
    def records(self) -> int:
        """How many there are in all classes."""
        return int(self.sizes @ self.classes)

    def within(self, least: int, most: int | None = None) -> tuple[int, int]:
        """How many classes have `least` to `most` records (`None`: or more), and how many records are in them."""
        found = (self.sizes >= least) & (True if most is None else self.sizes <= most)
        return int(self.classes[found].sum()), int(self.sizes[found] @ self.classes[found])

    def suppressed_for(self, ks: Sequence[int]) -> Counts:
        """(ks,) the fewest records to suppress so that what is left has k-anonymity, for each k.

        They are those of the classes smaller than k: what stays of one would be smaller still, so that none can stay.
        """
        below = np.append(0, np.cumsum(self.sizes * self.classes))
        found: Counts = below[np.searchsorted(self.sizes, ks)]
        return found
