"""Bounds that are proven in whole numbers, from the multipliers of a linear program.

A solver's optimum is right to some digits only, and a bound must never exclude the truth. But any multipliers `y` of
the sums prove one (Neumaier & Shcherbina 2004, "Safe bounds in linear and mixed-integer linear programming"):

    c x = y A x + (c - y A) x  >=  sum of y times the limit on its side  +  sum of min(0, c - y A) times the most of x

for every table with `least <= A x <= most` and `0 <= x <= upper`. Multipliers are rounded to fractions with a common
power of two; then all of this is computed without error, and a count is a whole number, so its bound rounds up.
"""

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.disclosure.sums import Sums

NEGLIGIBLE = 2.0**-40
"""A multiplier this small beside the largest is the solver's rounding."""

HOPELESS = 2.0**20
"""A multiplier this large leaves no digits behind the point for the others."""


def proven_least(sums: Sums, cell: int, sign: int, multipliers: FloatArray) -> int | None:
    """What `sign` times a cell is at least, in every table of whole numbers; None if the multipliers prove nothing.

    Args:
        sums: with limits.
        cell: its place among the cells of `sums`.
        sign: 1 or -1.
        multipliers: (sums,) of the linear program that minimises `sign` times the cell, nearly.
    """
    if not np.abs(multipliers).max(initial=0.0) < HOPELESS:
        return None
    usable = np.isfinite(np.where(multipliers > 0, sums.least, sums.most))
    multipliers = np.where(usable, multipliers, 0.0)
    whole, exponent = _scaled(sums, multipliers)
    reduced = -(sums.transposed.astype(np.int64) @ whole)
    reduced[cell] += sign << exponent
    limits = np.where(whole > 0, sums.least, sums.most)
    total = _product(whole, limits)
    below = np.flatnonzero(reduced < 0)
    if not np.isfinite(sums.upper[below]).all():
        return None
    total += _product(reduced[below], sums.upper[below])
    return -(-total >> exponent)


def _scaled(sums: Sums, multipliers: FloatArray) -> tuple[IntArray, int]:
    """The multipliers times 2^exponent, whole, such that no sum over those of a cell exceeds 2^62."""
    largest = float(np.abs(multipliers).max(initial=1.0))
    most = int(np.diff(sums.transposed.indptr).max(initial=1))
    exponent = 60 - most.bit_length() - int(np.frexp(largest)[1])
    kept = np.where(np.abs(multipliers) > NEGLIGIBLE * largest, multipliers, 0.0)
    return np.rint(np.ldexp(kept, exponent)).astype(np.int64), exponent


def _product(factors: IntArray, counts: FloatArray) -> int:
    used = np.flatnonzero(factors)
    return sum(factor * int(count) for factor, count in zip(factors[used].tolist(), counts[used].tolist(), strict=True))
