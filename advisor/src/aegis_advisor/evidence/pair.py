"""What is known about two masked attributes together."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from aegis_advisor.arrays import IntArray
from aegis_advisor.evidence.perturbation import UNPERTURBED, Perturbation, noise_variance

_PARTS: Final = 10
"""The fraction of its theoretical maximum by which one record at most moves chi-square in practice."""


@dataclass(frozen=True, slots=True, eq=False)
class PairCounts:
    """Joint counts of two masked attributes.

    Attributes:
        attributes: the indices of the two attributes in the evidence.
        maskings: the id of the masking of each, or `identity`.
        joint: (groups of the first, groups of the second) int64 joint counts of their masked values.
        perturbation: how the counts are declared to differ from those of the table.
        counted_with: for each of the two, (groups,) the masked value with which each is counted, possibly itself; None
            if all are counted separately.
    """

    attributes: tuple[int, int]
    maskings: tuple[str, str]
    joint: IntArray
    perturbation: Perturbation = UNPERTURBED
    counted_with: tuple[IntArray, IntArray] | None = None

    def pooled(self, side: int) -> IntArray:
        """(groups,) the number, from 0, of the set with which each masked value of one side is counted."""
        if self.counted_with is None:
            return np.arange(self.joint.shape[side])
        return np.asarray(np.unique(self.counted_with[side], return_inverse=True)[1])


@dataclass(frozen=True, slots=True)
class PairAssociation:
    """How strongly the label depends on the combination of two masked values.

    Attributes:
        attributes: the indices of the two attributes in the evidence.
        maskings: the id of the masking of each, or `identity`.
        chi_square: Pearson's, of the table of the combinations that occur and the label, over all records.
        combinations: the number of combinations that occur.
        rounded_to: the base to a multiple of which `combinations` was rounded up or down, and chi-square to one of
            `association_unit`, both after merging combinations with few records; None if neither was.
        digits: how many significant digits both numbers were then rounded to; None if they were not.
        noise_scale: in records, of the Laplace noise on `combinations` and on each sum `S_j` of squared counts that
            chi-square follows from, `N (sum_j S_j / m_j - 1)` with the published counts `m_j` of the label; None if
            there is none.
    """

    attributes: tuple[int, int]
    maskings: tuple[str, str]
    chi_square: float
    combinations: int
    rounded_to: int | None = None
    digits: int | None = None
    noise_scale: float | None = None

    @property
    def is_noisy(self) -> bool:
        """Whether noise may have changed the numbers."""
        return Perturbation(noise_scale=self.noise_scale).is_noisy

    def unit(self, label: IntArray) -> float:
        """The unit to which chi-square was rounded, given the published label (labels,); 0 if it was not."""
        return 0.0 if self.rounded_to is None else association_unit(self.rounded_to, label)

    @property
    def combinations_off(self) -> float:
        """The largest rounding error of the number of combinations."""
        return (self.rounded_to or 0) + self._half_digit * self.combinations

    def chi_square_off(self, label: IntArray) -> float:
        """The largest rounding error of chi-square, given the published label (labels,)."""
        return self.unit(label) + self._half_digit * self.chi_square

    def square_variance(self, label: IntArray) -> float:
        """The variance of chi-square by rounding or noise, for uniform remainders.

        Args:
            label: (labels,) the records of each label value, none of them 0.
        """
        digits = (self._half_digit * self.chi_square) ** 2 / 3
        noise = 0.0 if self.noise_scale is None else noise_variance(self.noise_scale)
        of_sums = float(np.sum((label.sum() / label) ** 2))
        return self.unit(label) ** 2 / 6 + digits + noise * of_sums

    @property
    def _half_digit(self) -> float:
        """Half a unit of the last significant digit of a number near 1; 0 if all digits are there."""
        return 0.0 if self.digits is None else 0.5 * 10.0 ** (1 - self.digits)


def association_unit(base: int, label: IntArray) -> float:
    """Return the unit to which chi-square is rounded.

    It is the base times the number of label values; or times a tenth of all records over those of the rarest label
    value, if that is more. With `N` records, `m` of them of a label value, and `n` of a combination, `x` of which have
    that value, one more moves chi-square by about `N / m (2 x + 1) / n`. No combination has fewer than 20.

    Args:
        base: the base to which the number of combinations is rounded.
        label: (labels,) the published records of each label value.
    """
    rarest = int(np.min(label[label > 0], initial=int(label.sum()) or 1))
    return base * max(float(label.size), int(label.sum()) / (_PARTS * rarest))


def named(pair: PairCounts) -> str:
    """Name a pair in a fault. Its index would mislead: pairs without counts are left out of the list."""
    return f"the pair of {pair.maskings[0]!r} and {pair.maskings[1]!r}"
