"""The re-identification risk of a release, and the records to suppress, from its class sizes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aegis_provider.counting.counts import Counts
from aegis_provider.privacy.classes import Classes

THRESHOLDS = (0.05, 0.2)
"""Risks that are often considered acceptable: 1 in 20 for public tables, 1 in 5 for tables shared under contract."""


@dataclass(frozen=True, eq=False)
class ClassSizes:
    """The number of equivalence classes of each size, which determines re-identification risk and suppression.

    Attributes:
        sizes: (distinct sizes,) in records, ascending, from 1.
        classes: (distinct sizes,) the number of classes of each size.
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
        """Return the number of classes with `least` to `most` records (`None`: or more), and of their records."""
        among = (self.sizes >= least) & (True if most is None else self.sizes <= most)
        return int(self.classes[among].sum()), int(self.sizes[among] @ self.classes[among])

    def suppressed_for(self, ks: Sequence[int]) -> Counts:
        """Return (ks,) the minimum number of records to suppress for k-anonymity of the others, for each k.

        They are all records of the classes smaller than k: suppressing only some would leave a still smaller class.
        """
        below = np.append(0, np.cumsum(self.sizes * self.classes))
        fewest: Counts = below[np.searchsorted(self.sizes, ks)]
        return fewest


@dataclass(frozen=True)
class Risk:
    """Risks of a release, as probabilities and shares of its records (El Emam 2013).

    Attributes:
        records, classes: Their numbers.
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
            above={threshold: _share_above(sizes, threshold) for threshold in thresholds},
            uniques=uniques,
            unique_share=uniques / records,
        )


def _share_above(sizes: ClassSizes, threshold: float) -> float:
    at_risk = 1 / sizes.sizes > threshold
    return int(sizes.sizes[at_risk] @ sizes.classes[at_risk]) / sizes.records
