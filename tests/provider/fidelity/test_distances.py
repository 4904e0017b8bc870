"""Distances and associations beside SciPy, scikit-learn's parts, and closed forms."""

import numpy as np
import pytest
from scipy.linalg import sqrtm
from scipy.stats import chi2_contingency

from aegis_provider.fidelity.associations import associations, cramers_v
from aegis_provider.fidelity.distances import frechet_distance, pair_total_variation


def vectors_of(rng, records, width):
    return rng.normal(size=(records, width)) @ rng.normal(size=(width, width)) + rng.normal(size=width)


@pytest.mark.parametrize("width", [1, 3, 8])
def test_the_frechet_distance_is_that_of_the_matrix_square_root(width):
    rng = np.random.default_rng(width)
    one, other = vectors_of(rng, 400, width), vectors_of(rng, 300, width)
    first, second = (np.atleast_2d(np.cov(each.T, bias=True)) for each in (one, other))
    apart = ((one.mean(axis=0) - other.mean(axis=0)) ** 2).sum()
    expected = apart + np.trace(first + second - 2 * sqrtm(first @ second).real)
    assert frechet_distance(one, other) == pytest.approx(expected, rel=1e-6)


def test_with_independent_columns_it_is_the_sum_of_the_squared_differences_of_means_and_deviations():
    corners = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    one, other = corners * [1, 2] + [3, 0], corners * [4, 2] + [0, 1]
    assert frechet_distance(one, other) == pytest.approx(3**2 + 1**2 + (4 - 1) ** 2)


def test_it_is_zero_for_the_same_records_even_if_columns_are_constant_or_repeated():
    one = np.random.default_rng(0).normal(size=(50, 2))
    singular = np.column_stack([one, one[:, 0], np.ones(50)])
    assert frechet_distance(singular, singular[::-1]) == pytest.approx(0.0, abs=1e-9)
    assert frechet_distance(singular, singular + np.array([0, 0, 0, 2.0])) == pytest.approx(4.0)


def test_the_total_variation_of_pairs_is_that_of_their_shares():
    one = np.array([[0, 0], [0, 1], [1, 1], [1, 1]])
    other = np.array([[0, 0], [0, 0], [1, 1], [1, 0]])
    assert pair_total_variation(one, other, (2, 2)) == pytest.approx((1 / 4 + 1 / 4 + 1 / 4 + 1 / 4) / 2)
    assert pair_total_variation(one, one[::-1], (2, 2)) == 0.0


def test_cramers_v_is_corrected_as_bergsma_says():
    counts = np.array([[30, 12, 5], [8, 25, 20]])
    records, (rows, columns) = counts.sum(), counts.shape
    squared = chi2_contingency(counts, correction=False).statistic / records
    unbiased = squared - (rows - 1) * (columns - 1) / (records - 1)
    fewest = min(rows - (rows - 1) ** 2 / (records - 1), columns - (columns - 1) ** 2 / (records - 1))
    assert cramers_v(counts) == pytest.approx(np.sqrt(unbiased / (fewest - 1)))


def test_associations_are_one_for_copies_and_nearly_zero_for_independent_columns():
    rng = np.random.default_rng(1)
    first, other = rng.integers(0, 4, 5_000), rng.integers(0, 3, 5_000)
    matrix = associations(np.column_stack([first, first, other, np.zeros(5_000, int)]), (4, 4, 3, 1))
    assert matrix[0, 1] == pytest.approx(1.0)
    assert matrix[0, 2] < 0.03
    assert matrix[0, 3] == 0.0
    assert (matrix == matrix.T).all()
