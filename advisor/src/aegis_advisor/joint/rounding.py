"""The rounding error of correlations, and its effect on traces, estimated from their factor."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from aegis_advisor.arrays import FloatArray

UNIT = 2.0**-53
"""The relative error of one operation."""

GROWTH = 8
"""Correlations and the factor of `n` of them are off by at most `GROWTH * n * UNIT` in norm. Errors of single
operations seldom add up, so this is more than is observed, though less than is possible."""

PROBES = 8
"""The random columns that show how ill-conditioned a factor is."""

UNLUCKY = 16
"""A mean of squares over the probes exceeds its expectation divided by this number, except once in 6,000 times
(chi-square distribution with 8 degrees of freedom)."""


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """The products of all solved targets with each other.

    Attributes:
        labels: (labels, labels) those of the label; its trace is Pillai's.
        inverse: an estimate of the trace of `G^-1` for the correlations `G` in the factor, which is the expected square
            of `L^-1` times a random vector [@hutchinson1989]. It is above the largest eigenvalue.
        slope: an estimate of `|G^-1 B|^2` with the correlations `B` with the label, likewise.
    """

    labels: FloatArray
    inverse: float
    slope: float

    @classmethod
    def of(cls, solved: FloatArray) -> Self:
        """Return the products of the rows (n, labels + PROBES) of `L^-1` times the targets."""
        products, classes = solved.T @ solved, solved.shape[1] - PROBES
        slope = np.sum(np.square(products[classes:, :classes]))
        inverse = np.trace(products[classes:, classes:])
        return cls(products[:classes, :classes], float(inverse) / PROBES, float(slope) / PROBES)


def error(size: int) -> float:
    """The rounding error of correlations (size, size), in norm."""
    return GROWTH * max(size, 1) * UNIT
