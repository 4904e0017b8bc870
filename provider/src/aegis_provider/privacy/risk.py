"""The risk that a person is re-identified in a release, and what has to be suppressed, from its class sizes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aegis_provider.counting.counts import Counts
from aegis_provider.privacy.classes import Classes

THRESHOLDS = (0.05, 0.2)
"""Risks that are often held acceptable: 1 in 20 for what is public, 1 in 5 for what is shared under contract."""


@dataclass(frozen=True, eq=False)
class ClassSizes:
    """How many equivalence classes there are of each size: all that re-identification and suppression depend on.

    Attributes:
        sizes: (distinct sizes,) in records, ascending, from 1.
        classes: (distinct sizes,) how many have each.
    """

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
        among = (self.sizes >= least) & (True if most is None else self.sizes <= most)
        return int(self.classes[among].sum()), int(self.sizes[among] @ self.classes[among])

    def suppressed_for(self, ks: Sequence[int]) -> Counts:
        """(ks,) the fewest records to suppress so that what is left has k-anonymity, for each k.

        They are those of the classes smaller than k: what stays of one would be smaller still, so that none can stay.
        """
        below = np.append(0, np.cumsum(self.sizes * self.classes))
        fewest: Counts = below[np.searchsorted(self.sizes, ks)]
        return fewest


@dataclass(frozen=True)
class Risk:
    """Risks of a release, as probabilities and shares of its records (El Emam 2013).

    Attributes:
        records, classes: How many there are.
        highest, average: Prosecutor risk, which is of someone who knows that a person is in the table and knows all of
            the person's quasi-identifiers: `1 / size` of the person's equivalence class.
        marketer: The share of the records that someone who links all of them with a register of the same people is
            expected to match right; as such a register has the same classes, it equals `average`, classes over records.
        above: For each threshold the share of records whose prosecutor risk is above it.
        uniques, unique_share: Records that are alone in their class.
    """

    records: int
    classes: int
    highest: float
    average: float
    marketer: float
    above: Mapping[float, float]
    uniques: int
    unique_share: float

    @classmethod
    def of(cls, sizes: ClassSizes, thresholds: Sequence[float] = THRESHOLDS) -> "Risk | None":
        """The risk of a release with classes of these sizes; `None` where it has no records."""
        records, classes = sizes.records, int(sizes.classes.sum())
        if not records:
            return None
        _, uniques = sizes.within(1, 1)
        return cls(
            records=records,
            classes=classes,
            highest=1 / int(sizes.sizes[0]),
            average=classes / records,
            marketer=classes / records,
            above={each: _share_above(sizes, each) for each in thresholds},
            uniques=uniques,
            unique_share=uniques / records,
        )


def _share_above(sizes: ClassSizes, threshold: float) -> float:
    at_risk = 1 / sizes.sizes > threshold
    return int(sizes.sizes[at_risk] @ sizes.classes[at_risk]) / sizes.records
