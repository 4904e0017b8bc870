"""Rounding of the association of two masked attributes with the label: coarse enough to hide a few records, then to a
few digits.
"""

import math
from collections.abc import Sequence
from decimal import Context, Decimal
from typing import Final

import numpy as np

from aegis_advisor.evidence import association_unit
from aegis_provider.control.dependent_rounding import RandomBytes
from aegis_sdk.wire import LabelAssociation

DIGITS: Final = 3
"""The significant digits."""

_CHANCE_BYTES: Final = 8


def rounded_association(
    chi_square: float, combinations: int, label: Sequence[int], base: int, random_bytes: RandomBytes
) -> LabelAssociation:
    """Return the association of two maskings with the label, rounded at random without bias, then to `DIGITS` digits.

    The combinations become a multiple of the base, and chi-square one of `association_unit`. A record of a rare label
    value changes chi-square most in a combination with few records, so these are taken together before
    (`PairCells.without_rare`). Three digits alone disclose counts of small tables, since few tables have the same
    chi-square to three digits.

    Args:
        chi_square: The exact chi-square.
        combinations: The number of combinations that occur.
        label: The published records of each label value.
        base: The base of the multiples.
        random_bytes: The source of randomness.
    """
    unit = association_unit(base, np.asarray(label, dtype=np.int64))
    occurring = base * _next(combinations / base, random_bytes)
    return LabelAssociation(
        chi_square=_to_digits(unit * _next(chi_square / unit, random_bytes)),
        combinations=max(1, int(_to_digits(occurring))),
        rounded_to=base,
        digits=DIGITS,
    )


def _next(number: float, random_bytes: RandomBytes) -> int:
    """Round a number at random to the whole number below or above, without bias."""
    below, chance = math.floor(number), int.from_bytes(random_bytes(_CHANCE_BYTES))
    return below + (chance < (number - below) * 256**_CHANCE_BYTES)


def _to_digits(number: float) -> float:
    return float(Context(prec=DIGITS).create_decimal(Decimal(repr(number))))
