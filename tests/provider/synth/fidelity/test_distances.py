"""Distances of sets of records against SciPy, closed forms and counts by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import sqrtm

from aegis_provider.synth.fidelity.encoding import Gaussian, pair_total_variation


def vectors(seed, records=200, width=5):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(records, width)) @ rng.normal(size=(width, width)) + rng.normal(size=width)


def frechet_distance(one, other):
    return Gaussian.of(one).frechet_distance(Gaussian.of(other))


def by_square_root(one, other):
    """The formula of Dowson and Landau, written out with SciPy's square root of a matrix."""
    covariances = [np.cov(each, rowvar=False, bias=True) for each in (one, other)]
    common = sqrtm(covariances[0] @ covariances[1]).real
    return ((one.mean(axis=0) - other.mean(axis=0)) ** 2).sum() + np.trace(sum(covariances) - 2 * common)


@given(st.integers(0, 1_000))
def test_frechet_distance_is_that_by_the_square_root_of_a_matrix(seed):
    one, other = vectors(seed), vectors(seed + 10_000)
    assert frechet_distance(one, other) == pytest.approx(by_square_root(one, other), rel=1e-8)
    assert frechet_distance(one, other) == pytest.approx(frechet_distance(other, one), rel=1e-9)


@given(st.integers(0, 1_000))
def test_of_diagonal_covariances_it_is_the_sum_over_the_axes(seed):
    rng = np.random.default_rng(seed)
    means, spreads = rng.normal(size=(2, 4)), rng.uniform(0, 3, size=(2, 4))
    signs = np.array(np.meshgrid(*[[-1.0, 1.0]] * 4)).reshape(4, -1).T  # uncorrelated, of mean 0 and variance 1
    one, other = (mean + signs * spread for mean, spread in zip(means, spreads, strict=True))
    expected = ((means[0] - means[1]) ** 2 + (spreads[0] - spreads[1]) ** 2).sum()
    assert frechet_distance(one, other) == pytest.approx(expected, rel=1e-9)


def test_singular_covariances_and_equal_records_are_no_problem():
    constant = np.ones((50, 3))
    assert frechet_distance(constant, constant) == 0
    assert frechet_distance(constant, constant + 2) == pytest.approx(12)
    assert frechet_distance(constant[:1], constant) == 0
    twice = np.repeat(vectors(1, width=2), 2, axis=1)  # of rank 2 in 4 dimensions
    assert frechet_distance(twice, twice) == pytest.approx(0, abs=1e-9)
    assert frechet_distance(twice, twice + np.array([0, 0, 0, 3])) == pytest.approx(9)
    few = vectors(2, records=3, width=40)
    assert frechet_distance(few, few[::-1]) == pytest.approx(0, abs=1e-9)


def test_pair_total_variation_is_that_of_counts_by_hand():
    one, other = np.array([[0, 0], [0, 1], [1, 1], [1, 1]]), np.array([[0, 0], [0, 0], [1, 0], [1, 1]])
    assert pair_total_variation(one, other, (2, 2)) == pytest.approx((0.25 + 0.25 + 0.25 + 0.25) / 2)
    assert pair_total_variation(one, one, (2, 2)) == 0
    assert pair_total_variation(np.zeros((3, 3), dtype=int), np.ones((9, 3), dtype=int), (2, 2, 2)) == 1
