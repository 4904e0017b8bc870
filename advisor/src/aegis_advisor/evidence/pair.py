"""What is known about two masked attributes together."""

from dataclasses import dataclass

from aegis_advisor.arrays import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class PairCounts:
    """Joint counts of two masked attributes.

    Attributes:
        attributes: the indices of the two attributes in the evidence.
        maskings: the id of the masking of each, or `identity`.
        joint: (groups of the first, groups of the second) int64 joint counts of their masked values.
    """

    attributes: tuple[int, int]
    maskings: tuple[str, str]
    joint: IntArray


@dataclass(frozen=True, slots=True)
class PairAssociation:
    """How strongly the label depends on the combination of two masked values.

    Attributes:
        attributes: the indices of the two attributes in the evidence.
        maskings: the id of the masking of each, or `identity`.
        chi_square: Pearson's, of the table of the combinations that occur and the label; exact, over all records.
        combinations: the number of combinations that occur.
    """

    attributes: tuple[int, int]
    maskings: tuple[str, str]
    chi_square: float
    combinations: int


def named(pair: PairCounts) -> str:
    """Name a pair in a fault: its place is not that in the document, where pairs may lack counts."""
    return f"the pair of {pair.maskings[0]!r} and {pair.maskings[1]!r}"
