"""What is known of two attributes together: joint counts of two masked attributes."""

from dataclasses import dataclass

from aegis_advisor.arrays import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class PairCounts:
    """Joint counts of two masked attributes.

    Attributes:
        attributes: the places of the two, in the order of the evidence.
        maskings: the id of the masking of each, or `identity`.
        joint: (groups of the first, groups of the second) int64 counts of their masked values together.
    """

    attributes: tuple[int, int]
    maskings: tuple[str, str]
    joint: IntArray
