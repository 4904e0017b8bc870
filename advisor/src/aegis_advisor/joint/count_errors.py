"""The standard error of Pillai's trace due to inexact counts, by the delta method.

Let `S` be the correlations of masked attributes, `W = S^-1` in the retained directions, and `L` their correlations
with the label. The trace is `tr(L' W L)`. Errors of the correlations change it by

    2 tr(L' W dL) - tr(L' W dS W L).

Correlations are sums of counts times the functions `F` and `E` of two bases. So independent errors of variance `v` in
the counts of `n` records contribute `4 v / n^2 |F M E'|^2` to its variance, where `M` is a block of `W L` for counts
with the label, and of `W L L' W` for pair counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Self

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.joint.basis import Basis
from aegis_advisor.joint.design import Design, Masked, Variance
from aegis_advisor.joint.inexact import inexact_trace


@dataclass(frozen=True, slots=True, eq=False)
class CountErrors:
    """The effect of count errors on the traces of a design.

    Attributes:
        design: the correlations.
        variance: their variances.
        label: (k, k) the products of the label's functions, summed over its values.
        records: the number of records.
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
        return cls(design, design.variance, Basis.of(label).products(), float(label.sum()))

    def trace_variance(self, used: Sequence[tuple[int, int]], coefficients: FloatArray | None = None) -> float:
        """The variance of the trace of some attributes, each with its code.

        Args:
            used: the attributes and their codes.
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
        total += sum(self._of_pair(first, second) for first, second in combinations(parts, 2))
        return 4 * float(total) / self.records**2

    def _of_pair(self, first: "_Part", second: "_Part") -> float:
        """The contribution of the errors of pair counts."""
        variance = self.design.tables.variance(first.place, first.masking.id, second.place, second.masking.id)
        return variance * _square(first.coefficients @ second.coefficients.T, first.products, second.products)

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
        place: its attribute.
        masking: the masking.
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
