"""Pillai's traces from inexact counts: rounded, or with noise.

Errors of the counts are errors of the correlations, and matter most where attributes nearly determine each other:
there the correlations have eigenvalues near 0, which errors can make negative. A direction whose eigenvalue the errors
could explain is left out. Errors of the counts with the label add to every trace; their expectation is subtracted.
"""

from dataclasses import dataclass

import numpy as np
import scipy

from aegis_advisor.arrays import Codes, FloatArray, IntArray
from aegis_advisor.joint.design import Design, Variance

EDGE = 2.0
"""The largest eigenvalue of a symmetric matrix of independent errors is about this many times the root of the largest
sum of their variances along a row [@bandeira2016]."""

LARGEST_EDGE = 0.1
"""A direction with a tenth of its variance left is retained, however large the errors are: otherwise tables of a few
hundred records would lose all directions."""


@dataclass(frozen=True, slots=True, eq=False)
class InexactTrace:
    """The trace of a configuration.

    Attributes:
        trace: Pillai's trace, less the expected contribution of errors of counts with the label.
        kept: the number of retained directions.
        coefficients: (columns, k) the inverse of the correlations in these directions, times those with the label.
    """

    trace: float
    kept: int
    coefficients: FloatArray


def inexact_traces(design: Design, variance: Variance, codes: Codes, label: IntArray) -> list[InexactTrace]:
    """The trace of each configuration.

    Args:
        design: the correlations.
        variance: their variances due to errors of counts.
        codes: (configurations, attributes).
        label: (labels,) the records of each label value.
    """
    most = float(np.count_nonzero(label > 0) - 1)
    distinct, place = np.unique(codes, axis=0, return_inverse=True)
    outcomes = [inexact_trace(design, variance, _columns(design, row), most) for row in distinct]
    return [outcomes[index] for index in place.reshape(-1).tolist()]


def _columns(design: Design, row: IntArray) -> IntArray:
    """The columns of all maskings of a configuration."""
    return np.concatenate([of[code] for of, code in zip(design.columns, row.tolist(), strict=True)])


def inexact_trace(design: Design, variance: Variance, columns: IntArray, most: float) -> InexactTrace:
    """Return the trace of these columns, cut at `most`."""
    labels = design.labels[columns]
    if not columns.size:
        return InexactTrace(0.0, 0, labels)
    scaled = _whitening(design, variance, columns)
    coefficients = scaled @ (scaled.T @ labels)
    chance = float(np.sum(np.square(scaled), axis=1) @ variance.labels[columns])
    return InexactTrace(
        min(max(float(np.sum(labels * coefficients)) - chance, 0.0), most), scaled.shape[1], coefficients
    )


def _whitening(design: Design, variance: Variance, columns: IntArray) -> FloatArray:
    """A matrix `W` (columns, kept) such that `W W'` is the inverse of the correlations in the retained directions.

    These have eigenvalues that errors cannot explain. A Cholesky factor shows five times faster than eigenvalues
    whether all have.
    """
    both = np.ix_(columns, columns)
    correlations, edge = design.correlations[both], _edge(variance.correlations[both])
    _, below = scipy.linalg.lapack.dpotrf(correlations - edge * np.eye(len(correlations)), lower=1)
    if not below:
        lower, _ = scipy.linalg.lapack.dpotrf(correlations, lower=1, clean=1)
        inverse, _ = scipy.linalg.lapack.dtrtri(lower, lower=1)
        return np.asarray(inverse.T)
    values, vectors = scipy.linalg.eigh(correlations)
    kept = values > edge
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))


def _edge(variance: FloatArray) -> float:
    """The largest plausible eigenvalue of errors with these variances (columns, columns)."""
    return min(EDGE * float(np.sqrt(variance.sum(axis=1).max())), LARGEST_EDGE)
