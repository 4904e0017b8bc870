"""The risk that a person is re-identified in a release, and the records to suppress, from its class sizes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aegis_provider.counting.counts import Counts
from aegis_provider.privacy.classes import Classes

THRESHOLDS = (0.05, 0.2)
"""Risks that are often held acceptable: 1 in 20 for public tables, 1 in 5 for tables shared under contract."""


@dataclass(frozen=True, eq=False)
class ClassSizes:
    """The number of equivalence classes of each size: all that re-identification and suppression depend on.

    Attributes:
        sizes: (distinct sizes,) in records, ascending, from 1.
        classes: (distinct sizes,) how many classes have each size.
    """

    sizes: Counts
    classes: Counts

    @classmethod
    def of(cls, classes: Classes) -> "ClassSizes":
        """Count the classes of each size."""
        sizes, counts = np.unique(classes.sizes, return_counts=True)
        return cls(sizes, counts.astype(np.int64))

    @property
    def records(self) -> int:
        """The number of records in all classes."""
        return int(self.sizes @ self.classes)

    def within(self, least: int, most: int | None = None) -> tuple[int, int]:
        """Return how many classes have `least` to `most` records (`None`: or more), and how many records they hold."""
        among = (self.sizes >= least) & (True if most is None else self.sizes <= most)
        return int(self.classes[among].sum()), int(self.sizes[among] @ self.classes[among])

    def suppressed_for(self, ks: Sequence[int]) -> Counts:
        """Return (ks,) the fewest records to suppress so that the others have k-anonymity, for each k.

        They are all records of the classes smaller than k: suppressing only some would leave a still smaller class.
        """
        below = np.append(0, np.cumsum(self.sizes * self.classes))
        fewest: Counts = below[np.searchsorted(self.sizes, ks)]
        return fewest


@dataclass(frozen=True)
class Risk:
    """Risks of a release, as probabilities and shares of its records (El Emam 2013).

    Attributes:
        records, classes: How many there are.
        highest, average: Prosecutor risk: someone knows that a person is in the table and knows all of the person's
            quasi-identifiers. It is `1 / size` of the person's equivalence class.
        marketer: Marketer risk: someone links all records with a register of the same people. It is the share expected
            to be matched correctly. Such a register has the same classes, so it equals `average`: classes over records.
        above: For each threshold, the share of records whose prosecutor risk is above it.
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
        """Return the risk of a release with classes of these sizes; `None` if it has no records."""
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
