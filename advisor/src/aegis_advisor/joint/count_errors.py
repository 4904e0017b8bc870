"""The standard error of Pillai's trace due to inexact counts, by the delta method.

Let `S` be the correlations of masked attributes, `W = S^-1` in the retained directions, and `L` their correlations
with the label. The trace is `tr(L' W L)`. Errors of the correlations change it by

    2 tr(L' W dL) - tr(L' W dS W L).

Correlations are sums of counts times the functions `F` and `E` of two bases. So independent errors of variance `v` in
the counts of `n` records contribute `4 v / n^2 |F M E'|^2` to its variance, where `M` is a block of `W L` for counts
with the label, and of `W L L' W` for pair counts.

Pillai's traces from inexact counts: rounded, or with noise.

Errors of the counts are errors of the correlations, and matter most where attributes nearly determine each other:
there the correlations have eigenvalues near 0, which errors can make negative. A direction whose eigenvalue the errors
could explain is left out. Errors of the counts with the label add to every trace; their expectation is subtracted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Self

import numpy as np
import scipy

from aegis_advisor.arrays import Codes, FloatArray, IntArray
from aegis_advisor.joint.design import Design, Masked, Variance

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
        coefficients: (columns, k) the inverse of the correlations in these directions, times those with the label.
    """

    trace: float
    kept: int
    coefficients: FloatArray


def inexact_traces(design: Design, variance: Variance, codes: Codes) -> list[InexactTrace]:
    """The trace of each configuration."""
    most = float(design.label.size)
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


@dataclass(frozen=True, slots=True, eq=False)
class CountErrors:
    """The effect of count errors on the traces of a design.

    Attributes:
        label: (k, k) the products of the label's functions, summed over its values.
    """

    design: Design
    variance: Variance
    label: FloatArray
    records: float
    _products: dict[tuple[int, int], FloatArray] = field(default_factory=dict)

    @classmethod
    def of(cls, design: Design, label: IntArray) -> Self | None:
        """Return the errors for the records (labels,) of each label value; None if all counts are exact."""
        if design.variance is None:
            return None
        return cls(design, design.variance, design.label.products(), float(label.sum()))

    def trace_variance(self, used: Sequence[tuple[int, int]], coefficients: FloatArray | None = None) -> float:
        """The variance of the trace of some attributes, each with its code.

        Args:
            coefficients: (columns, k) the coefficients of their trace, if computed already (`InexactTrace`).
        """
        places = [(place, code) for place, code in used if self.design.masked[place][code] is not None]
        if not places:
            return 0.0
        runs = [self.design.columns[place][code] for place, code in places]
        if coefficients is None:
            coefficients = inexact_trace(self.design, self.variance, np.concatenate(runs), np.inf).coefficients
        blocks = np.split(coefficients, np.cumsum([run.size for run in runs])[:-1])
        parts = [self._part(place, code, block) for (place, code), block in zip(places, blocks, strict=True)]
        total = sum(part.masking.variance * _square(part.coefficients, part.products, self.label) for part in parts)
        of_pairs = 0.0  # the contribution of the errors of pair counts
        for first, second in combinations(parts, 2):
            variance = self.design.tables.variance(first.place, first.masking.id, second.place, second.masking.id)
            product = first.coefficients @ second.coefficients.T
            of_pairs += variance * _square(product, first.products, second.products)
        return 4 * float(total + of_pairs) / self.records**2

    def _part(self, place: int, code: int, coefficients: FloatArray) -> "_Part":
        masking = self.design.masked[place][code]
        if masking is None:
            raise ValueError("a masking with a single masked value has no errors")
        if (place, code) not in self._products:
            self._products[place, code] = masking.basis.products()
        return _Part(place, masking, coefficients, self._products[place, code])


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """A masking of a configuration.

    Attributes:
        coefficients: (size, k) its rows of `W L`.
        products: (size, size) the products of its functions.
    """

    place: int
    masking: Masked
    coefficients: FloatArray
    products: FloatArray


def _square(block: FloatArray, rows: FloatArray, columns: FloatArray) -> float:
    """`|F M E'|^2` of a block `M`, given `F'F` and `E'E`."""
    return float(np.sum(block * (rows @ block @ columns)))
