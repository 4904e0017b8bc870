"""Made-up records that agree with the counts in what a linear score needs: its values, and how two attributes move it.

Each attribute's masked values are ordered by their weight and cut from a normal variable at their shares. The variables
are correlated so that the weights of every two attributes have the covariance that the pair counts give (NORTA,
[@cario1997]). The records are as many as `RECORDS`, always the same for the same counts, and no record of the table.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from scipy.special import ndtri

from aegis_advisor.arrays import FloatArray, IntArray

RECORDS: Final = 4096
TERMS: Final = 30
"""The Hermite polynomials of an expansion; what they leave out matters near correlations of 1 only."""

HALVINGS: Final = 20
LEAST: Final = 1e-6
"""The smallest eigenvalue of the correlations."""


def population(weights: Sequence[FloatArray], shares: Sequence[FloatArray], covariances: FloatArray) -> IntArray:
    """Draw (RECORDS, attributes) masked values, as places in `weights`.

    Args:
        weights: per attribute, (values,) the weight of each masked value.
        shares: likewise, the share of the records, with the sum 1.
        covariances: (attributes, attributes) those of the weights of two attributes.
    """
    orders = [np.argsort(weight, kind="stable") for weight in weights]
    bounds = [np.cumsum(share[order])[:-1] for share, order in zip(shares, orders, strict=True)]
    rises = [np.diff(weight[order]) for weight, order in zip(weights, orders, strict=True)]
    correlations = _positive(_correlations(_moments(rises, bounds), covariances))
    normal = _normals(len(weights)) @ np.linalg.cholesky(correlations).T
    rank = np.empty(normal.shape)
    np.put_along_axis(rank, np.argsort(normal, axis=0), (np.arange(RECORDS)[:, np.newaxis] + 0.5) / RECORDS, axis=0)
    cut = zip(orders, bounds, rank.T, strict=True)
    return np.stack([order[np.searchsorted(bound, place)] for order, bound, place in cut], axis=1)


def _moments(rises: Sequence[FloatArray], bounds: Sequence[FloatArray]) -> FloatArray:
    """(attributes, TERMS) the Hermite coefficients, from the first, of step functions of a normal variable.

    A step of 1 at `z` has the coefficient `phi(z) he_(k-1)(z) / sqrt(k)` with the normalised polynomial `he`.
    """
    attribute = np.repeat(np.arange(len(rises)), [rise.size for rise in rises])
    place = ndtri(np.clip(np.concatenate(bounds), 1e-15, 1 - 1e-15))
    steps = np.concatenate(rises) * np.exp(-np.square(place) / 2) / np.sqrt(2 * np.pi)
    before, polynomial = np.zeros(place.size), np.ones(place.size)
    moments = np.zeros((TERMS, len(rises)))
    for term in range(1, TERMS + 1):
        moments[term - 1] = np.bincount(attribute, steps * polynomial, len(rises)) / np.sqrt(term)
        before, polynomial = polynomial, (place * polynomial - np.sqrt(term - 1) * before) / np.sqrt(term)
    return moments.T


def _correlations(moments: FloatArray, covariances: FloatArray) -> FloatArray:
    """The correlations of normal variables that give these covariances: `sum_k a_k b_k rho^k` (Mehler), by bisection.

    Args:
        moments: (attributes, TERMS).
    """
    first, second = np.triu_indices(len(moments), 1)
    terms, wanted = (moments[first] * moments[second]).T, covariances[first, second]
    low, high = np.full(wanted.size, -1.0), np.full(wanted.size, 1.0)
    for _ in range(HALVINGS):
        middle, value = (low + high) / 2, np.zeros(wanted.size)
        for term in terms[::-1]:
            value = (value + term) * middle
        low, high = np.where(value < wanted, middle, low), np.where(value < wanted, high, middle)
    correlations = np.eye(len(moments))
    correlations[first, second] = correlations[second, first] = (low + high) / 2
    return correlations


def _positive(correlations: FloatArray) -> FloatArray:
    """The correlations with eigenvalues of at least `LEAST`: single ones need not fit together."""
    values, vectors = np.linalg.eigh(correlations)
    positive = (vectors * np.maximum(values, LEAST)) @ vectors.T
    scale = np.sqrt(np.diag(positive))
    return np.asarray(positive / np.outer(scale, scale))


@lru_cache(maxsize=4)
def _normals(columns: int) -> FloatArray:
    """(RECORDS, columns) normal numbers with the sample means 0 and the sample correlations 0."""
    drawn = np.random.default_rng(0).standard_normal((RECORDS, columns))
    left, _, right = np.linalg.svd(drawn - drawn.mean(axis=0), full_matrices=False)
    return np.asarray(left @ right * np.sqrt(RECORDS))
