"""Building blocks of measures: the margins of a table, its entropies, and its degrees of freedom."""

import numpy as np
import scipy

from aegis_advisor.arrays import FloatArray
from aegis_advisor.atoms import AtomStatistics


def ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """The quotient of two arrays (broadcast); 0 where the denominator is 0."""
    shape = np.broadcast(numerator, denominator).shape
    quotient: FloatArray = np.divide(numerator, denominator, out=np.zeros(shape), where=denominator > 0)
    return quotient


def independent(table: FloatArray) -> FloatArray:
    """The table (rows, labels) with the same margins in which rows and labels are independent."""
    total = max(float(table.sum()), np.finfo(np.float64).tiny)
    # In this order, a table with one row is reproduced to the last digit.
    expected: FloatArray = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True) / total
    return expected


def log_ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """log2(numerator / denominator) of tables of the same shape; 0 where the numerator is 0."""
    held = numerator > 0
    logs = np.zeros(numerator.shape)
    logs[held] = np.log2(numerator[held] / denominator[held])
    return logs


def entropy(counts: FloatArray) -> float:
    """The entropy of counts (n,) in bits; 0 without records."""
    total = float(counts.sum())
    return (
        max(0.0, float(-np.sum(scipy.special.xlogy(counts, counts / total)) / total / np.log(2))) if total > 0 else 0.0
    )


def entropy_gradient(counts: FloatArray) -> FloatArray:
    """The derivative (n,) of the entropy with respect to each count, in bits; `counts` must have records."""
    total = float(counts.sum())
    slopes: FloatArray = (-log_ratio(counts, np.full(counts.shape, total)) - entropy(counts)) / total
    return slopes


def value_entropy(table: FloatArray, atoms: AtomStatistics | None) -> float:
    """The entropy H(A) of the values in bits."""
    total = float(table.sum())
    if atoms is None or total <= 0:
        return entropy(table.sum(axis=1))
    return max(0.0, float((np.log(total) - atoms.logs.sum() / total) / np.log(2)))


def occupied(table: FloatArray, atoms: AtomStatistics | None) -> tuple[int, int]:
    """The numbers of values and of labels with records."""
    rows = table.sum(axis=1) > 0
    values = int(np.count_nonzero(rows)) if atoms is None else int(atoms.occupied[rows].sum())
    return values, int(np.count_nonzero(table.any(axis=0)))


def freedom(table: FloatArray, atoms: AtomStatistics | None) -> int:
    """The degrees of freedom `(R - 1)(C - 1)` of the values and labels with records; 0 for an empty table."""
    rows, columns = occupied(table, atoms)
    return max(rows - 1, 0) * max(columns - 1, 0)
