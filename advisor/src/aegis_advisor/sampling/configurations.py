"""Which configurations cannot be told from the best, of a million of them."""

from collections.abc import Sequence

import numpy as np

from aegis_advisor.arrays import BoolArray, FloatArray, IntArray
from aegis_advisor.blocks import CodeBlocks

CONFIDENCE = 1.959963984540054
"""Standard errors to either side: 95 % of a Gaussian variable lies within them."""

ROWS = 65_536
"""Configurations at a time: their vectors are not all kept."""


def standard_errors(blocks: CodeBlocks, vectors: Sequence[FloatArray], rows: IntArray) -> FloatArray:
    """The standard error (rows,) of sums over attributes, at most.

    Args:
        blocks: the configurations.
        vectors: per attribute (options, n), as `Errors` makes them, times the attribute's weight.
        rows: (rows,) which configurations.
    """
    found = np.empty(rows.size)
    for start in range(0, rows.size, ROWS):
        chunk = slice(start, start + ROWS)
        found[chunk] = np.linalg.norm(blocks.sums(vectors, rows[chunk]), axis=-1)
    return found


def indistinguishable(
    blocks: CodeBlocks, vectors: Sequence[FloatArray], gaps: FloatArray, tolerance: float
) -> BoolArray:
    """Which configurations' deviation is within 1.96 standard errors of the best's: a mask (configurations,).

    Args:
        blocks: the configurations.
        vectors: per attribute (options, n), of each option's deviation less the best's, times the weight.
        gaps: (configurations,) deviation less the smallest.
        tolerance: gaps this small are rounding noise.

    The length of a sum of vectors lies between the sum of their projections on any direction and the sum of their
    lengths; only where these do not settle it are the vectors added up.
    """
    lengths = [np.linalg.norm(vector, axis=-1) for vector in vectors]
    reach = CONFIDENCE * sum(float(length.max(initial=0.0)) for length in lengths)
    open_rows = np.flatnonzero(gaps <= reach + tolerance)
    open_rows = open_rows[gaps[open_rows] <= CONFIDENCE * blocks.sums(lengths, open_rows) + tolerance]
    direction = _direction(vectors)
    least = blocks.sums([vector @ direction for vector in vectors], open_rows)
    within = np.zeros(gaps.size, dtype=bool)
    settled = gaps[open_rows] <= CONFIDENCE * least + tolerance
    within[open_rows[settled]] = True
    left = open_rows[~settled]
    within[left] = gaps[left] <= CONFIDENCE * standard_errors(blocks, vectors, left) + tolerance
    return within


def _direction(vectors: Sequence[FloatArray]) -> FloatArray:
    """The unit vector (n,) along which all vectors together are longest, or nearly so: that of their sum."""
    total: FloatArray = np.sum([vector.sum(axis=0) for vector in vectors], axis=0)
    length = float(np.linalg.norm(total))
    return total / length if length > 0 else total
