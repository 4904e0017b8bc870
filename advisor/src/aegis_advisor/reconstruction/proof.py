"""Proofs in integers that margins force cells to be zero.

By Farkas' lemma (Schrijver 1986, "Theory of linear and integer programming", corollary 7.1d) a cell is zero in
every table that fits exactly if some combination `d` of the equations has coefficients `c` that are nowhere
negative and positive at the cell, while `d` times the counts is 0. Entries of `d` that are fractions with small
denominators are recovered exactly. Where they are not (they are quotients of determinants, which can have
hundreds of digits), `d` is rounded to integers all the same. Then `c` and `d @ target` are known without error,
and every table that fits has

    sum of c * cell = d @ target,    so    c_z * cell_z <= d @ target + sum of max(-c, 0) * smallest margin.

This leaves so little for the cell that no table of whole numbers, such as the unmasked one, has a record there.
"""

from fractions import Fraction
from math import lcm

import numpy as np

from aegis_advisor.arrays import BoolArray, FloatArray, IntArray
from aegis_advisor.reconstruction.equations import Equations

LEAST = 1e-6
"""A cell that no table gives more of a record than this is zero."""

DENOMINATOR = 64
MULTIPLE = 2**20
"""The largest denominator of an entry of a proof, and of all its entries together, that is looked for."""

CAREFUL = 1 + 1e-9
"""Makes up for rounding in a sum of terms of one sign."""


def is_proven(equations: Equations, dual: FloatArray, zero: BoolArray) -> bool:
    """Whether a combination (equations,), made integer, proves these cells (cells,) to be zero."""
    if not zero.any():
        return True
    if _proves(equations, _scaled(equations, dual), zero):
        return True
    whole = _common_multiple(dual)
    return whole is not None and _proves(equations, whole, zero)


def _proves(equations: Equations, whole: IntArray, zero: BoolArray) -> bool:
    """Whether the integers (equations,) leave less than `LEAST` of a record for each of these cells."""
    coefficients = equations.transposed.astype(np.int64) @ whole
    least = float(coefficients[zero].min())
    pairs = zip(whole.tolist(), equations.target.tolist(), strict=True)
    total = sum(factor * int(count) for factor, count in pairs)
    below = np.maximum(-coefficients, 0).astype(np.float64)
    room = total + CAREFUL * float(below @ equations.smallest_target())
    return least > 0 and 0 <= room <= LEAST * least


def _scaled(equations: Equations, dual: FloatArray) -> IntArray:
    """The combination times a power of two, as large as its coefficients stay below 2^63."""
    most = int(np.diff(equations.transposed.indptr).max())
    exponent = 62 - most.bit_length() - int(np.frexp(np.abs(dual).max())[1])
    return np.rint(np.ldexp(dual, exponent)).astype(np.int64)


def _common_multiple(dual: FloatArray) -> IntArray | None:
    """The combination as fractions of small denominators times their common multiple; None if that is large."""
    used = np.flatnonzero(np.abs(dual) > 1 / DENOMINATOR**2)
    fractions = [Fraction(float(entry)).limit_denominator(DENOMINATOR) for entry in dual[used]]
    multiple = lcm(*(entry.denominator for entry in fractions))
    if multiple > MULTIPLE or any(abs(entry) > MULTIPLE for entry in fractions):
        return None
    whole = np.zeros(dual.size, dtype=np.int64)
    whole[used] = [int(entry * multiple) for entry in fractions]
    return whole
