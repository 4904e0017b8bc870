"""How far two sets of records are from each other: by the shares of pairs of values, and by mean and covariance."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Self

import numpy as np
from numpy.typing import NDArray

from aegis_provider.synth.fidelity.encoding import Codes, Vectors


def pair_total_variation(one: Codes, other: Codes, sizes: Sequence[int]) -> float:
    """Return the mean total variation distance of the joint shares of all pairs of columns.

    Args:
        one: (records, columns) The groups of the values of some records.
        other: (records, columns) Those of others.
        sizes: (columns,) How many groups there are.
    """
    distances = [
        float(np.abs(_shares(one, pair, sizes) - _shares(other, pair, sizes)).sum()) / 2
        for pair in combinations(range(len(sizes)), 2)
    ]
    return float(np.mean(distances))


def _shares(codes: Codes, pair: tuple[int, int], sizes: Sequence[int]) -> NDArray[np.float64]:
    return joint_counts(codes, pair, sizes).ravel() / max(1, len(codes))


def joint_counts(codes: Codes, pair: tuple[int, int], sizes: Sequence[int]) -> NDArray[np.intp]:
    """(sizes of the pair) Return how many records have each combination of the groups of two columns."""
    first, second = pair
    cells = codes[:, first] * sizes[second] + codes[:, second]
    return np.bincount(cells, minlength=sizes[first] * sizes[second]).reshape(sizes[first], sizes[second])


@dataclass(frozen=True, eq=False)
class Gaussian:
    """The normal distribution with the mean and the covariance of some vectors.

    Attributes:
        mean: (width,) The mean.
        root: (width, width) The symmetric square root of the covariance.
        spread: The trace of the covariance.
    """

    mean: NDArray[np.float64]
    root: NDArray[np.float64]
    spread: float

    @classmethod
    def of(cls, vectors: Vectors) -> Self:
        """Return the distribution fitted to (records, width) vectors; of none, that of a point at 0."""
        records = max(1, len(vectors))
        mean = vectors.sum(axis=0) / records
        centred = vectors - mean
        values, axes = np.linalg.eigh(centred.T @ centred / records)
        values = values.clip(0.0)
        return cls(mean, (axes * np.sqrt(values)) @ axes.T, float(values.sum()))

    def frechet_distance(self, other: "Gaussian") -> float:
        """Return the Fréchet distance, as usual without taking the root of it.

        It is |m1 - m2|^2 + tr(S1 + S2 - 2 (S1 S2)^(1/2)). The last trace is the sum of the singular values of
        S1^(1/2) S2^(1/2), which needs no inverse and no root of a matrix that is not symmetric.
        Source: Dowson and Landau, The Fréchet distance between multivariate normal distributions (1982), eq. 4.
        """
        apart = float(((self.mean - other.mean) ** 2).sum())
        common = float(np.linalg.svd(self.root @ other.root, compute_uv=False).sum())
        return max(0.0, apart + self.spread + other.spread - 2 * common)


def frechet_distance(one: Vectors, other: Vectors) -> float:
    """Return the Fréchet distance of the normal distributions fitted to two sets of (records, width) vectors."""
    return Gaussian.of(one).frechet_distance(Gaussian.of(other))
