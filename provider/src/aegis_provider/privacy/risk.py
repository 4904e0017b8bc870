"""The risk that a person is re-identified in a release, from the sizes of its equivalence classes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aegis_provider.privacy.class_sizes import ClassSizes

THRESHOLDS = (0.05, 0.2)
"""Risks that are often held acceptable: 1 in 20 for what is public, 1 in 5 for what is shared under contract."""


@dataclass(frozen=True)
class Risk:
    """Risks of a release, as probabilities and shares of its records (El Emam 2013).

    `highest`, `average`: prosecutor risk, which is of someone who knows that a person is in the table and knows all of
    the person's quasi-identifiers: `1 / size` of the person's equivalence class. `marketer`: the share of the records
    that someone who links all of them with a register of the same people is expected to match right; as such a register
    has the same classes, it equals `average`, classes over records. `above`: for each threshold the share of records
    whose prosecutor risk is above it. `uniques`, `unique_share`: records that are alone in their class.
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
