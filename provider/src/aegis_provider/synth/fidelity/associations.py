"""How strongly each two columns are associated, on one scale for numbers and categories."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from aegis_provider.synth.fidelity.distances import joint_counts
from aegis_provider.synth.fidelity.encoding import Codes


def associations(codes: Codes, sizes: Sequence[int]) -> NDArray[np.float64]:
    """(columns, columns) Return Cramér's V of each two columns, corrected for the bias of few records.

    It is 0 if nothing of one follows from the other, and if a column is constant; 1 if each determines the other.

    Args:
        codes: (records, columns) The groups of the values; so numbers may be associated in any shape, not only linear.
        sizes: (columns,) How many groups there are.
    """
    matrix = np.eye(len(sizes))
    for pair in combinations(range(len(sizes)), 2):
        matrix[pair] = matrix[pair[::-1]] = cramers_v(joint_counts(codes, pair, sizes))
    return matrix


def cramers_v(counts: NDArray[np.intp]) -> float:
    """Return the bias-corrected V of a table of counts.

    Source: Bergsma, A bias-correction for Cramér's V and Tschuprow's T (2013), section 3.
    """
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    records, (rows, columns) = counts.sum(), counts.shape
    if min(rows, columns) < 2:  # noqa: PLR2004 - a constant
        return 0.0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / records
    squared = ((counts - expected) ** 2 / expected).sum() / records
    unbiased = max(0.0, squared - (rows - 1) * (columns - 1) / (records - 1))
    fewest = min(each - (each - 1) ** 2 / (records - 1) for each in (rows, columns)) - 1
    return float(np.sqrt(min(1.0, unbiased / fewest))) if fewest > 0 else 0.0
