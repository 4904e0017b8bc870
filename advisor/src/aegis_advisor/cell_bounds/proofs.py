"""Proofs in whole numbers, from the multipliers of linear programs.

A solver's optimum has limited precision, but a bound must never exclude the truth. Any multipliers `y` of the
sums prove a bound (Neumaier & Shcherbina 2004, "Safe bounds in linear and mixed-integer linear programming"):

    c x = y A x + (c - y A) x  >=  sum of y times the limit on its side  +  sum of min(0, c - y A) times the most of x

for every table with `least <= A x <= most` and `0 <= x <= upper`. Multipliers are rounded to fractions whose common
denominator is a power of two. Then the arithmetic is exact. Counts are whole, so the bound is rounded up.

Likewise, no table fits if a combination of the sums is larger than any table within the bounds of its cells makes it.
"""

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.cell_bounds.linear_system import LinearSystem

NEGLIGIBLE = 2.0**-40
"""Multipliers smaller than this, relative to the largest, are rounding errors of the solver."""

HOPELESS = 2.0**20
"""Multipliers above this leave too few binary places for the others."""


def proven_least(sums: LinearSystem, cell: int, sign: int, multipliers: FloatArray) -> int | None:
    """A lower bound of `sign` times a cell in every table of whole numbers; None if the multipliers prove none.

    Args:
        sums: the sums and their limits.
        cell: the index of the cell among the cells of `sums`.
        sign: 1 or -1.
        multipliers: (sums,) approximately the dual solution of the program that minimises `sign` times the cell.
    """
    if not np.abs(multipliers).max(initial=0.0) < HOPELESS:
        return None
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


def proves_empty(sums: LinearSystem, lower: FloatArray, upper: FloatArray, multipliers: FloatArray) -> bool:
    """Whether the multipliers (sums,) prove that no table between these finite bounds (cells,) has these sums."""
    if not np.abs(multipliers).max(initial=0.0) < HOPELESS:
        return False
    whole, _ = _scaled(sums, multipliers)
    coefficients = sums.transposed.astype(np.int64) @ whole
    needed = _product(whole, np.where(whole > 0, sums.least, sums.most))
    return needed > _product(coefficients, np.where(coefficients > 0, upper, lower))


def _scaled(sums: LinearSystem, multipliers: FloatArray) -> tuple[IntArray, int]:
    """The multipliers times 2^exponent, as integers small enough that those of a cell's sums total at most 2^62.

    Multipliers that would use an infinite limit become 0.
    """
    usable = np.isfinite(np.where(multipliers > 0, sums.least, sums.most))
    multipliers = np.where(usable, multipliers, 0.0)
    largest = float(np.abs(multipliers).max(initial=1.0))
    most = int(np.diff(sums.transposed.indptr).max(initial=1))
    exponent = 60 - most.bit_length() - int(np.frexp(largest)[1])
    kept = np.where(np.abs(multipliers) > NEGLIGIBLE * largest, multipliers, 0.0)
    return np.rint(np.ldexp(kept, exponent)).astype(np.int64), exponent


def _product(factors: IntArray, counts: FloatArray) -> int:
    used = np.flatnonzero(factors)
    return sum(factor * int(count) for factor, count in zip(factors[used].tolist(), counts[used].tolist(), strict=True))
