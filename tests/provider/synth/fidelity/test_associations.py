"""Cramér's V against SciPy and against the paper's formula, and how records are grouped and turned into vectors."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats.contingency import association

from aegis_provider.synth.fidelity.comparison import associations, cramers_v
from aegis_provider.synth.fidelity.encoding import Encoder, PlainColumn, PlainRecords, ValueGroups


def corrected(counts):
    """Bergsma's correction of the V that SciPy computes."""
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    records, (rows, columns) = counts.sum(), counts.shape
    if min(rows, columns) == 1:
        return 0.0
    squared = association(counts, method="cramer") ** 2 * (min(rows, columns) - 1)
    squared = max(0.0, squared - (rows - 1) * (columns - 1) / (records - 1))
    rows, columns = rows - (rows - 1) ** 2 / (records - 1), columns - (columns - 1) ** 2 / (records - 1)
    return np.sqrt(squared / (min(rows, columns) - 1))


@given(st.integers(0, 1_000))
def test_v_is_that_of_scipy_with_the_correction_of_the_paper(seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 60, rng.integers(2, 6, 2)) + np.eye(1, dtype=int)
    assert cramers_v(counts) == pytest.approx(min(1.0, corrected(counts)), abs=1e-12)


def test_v_is_one_for_what_is_determined_and_nothing_for_what_is_constant_or_independent():
    assert cramers_v(np.diag([30, 40, 50])) == pytest.approx(1)
    assert cramers_v(np.array([[10, 20, 30]])) == 0
    assert cramers_v(np.outer([10, 20], [3, 5, 7])) == 0
    assert cramers_v(np.array([[1, 0], [0, 0]])) == 0


def test_a_matrix_has_every_pair_of_columns_and_is_symmetric():
    rng = np.random.default_rng(0)
    one = rng.integers(0, 3, 500)
    codes = np.stack([one, (one + (rng.random(500) < 0.2)) % 3, rng.integers(0, 4, 500)], axis=1)
    matrix = associations(codes, (3, 3, 4))
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_array_equal(np.diag(matrix), 1)
    for first, second in ((0, 1), (0, 2), (1, 2)):
        counts = pd.crosstab(codes[:, first], codes[:, second]).to_numpy()
        assert matrix[first, second] == pytest.approx(corrected(counts))
    assert matrix[0, 1] > 0.6
    assert matrix[0, 2] < 0.1


def records(**columns):
    made = [
        PlainColumn(name, name.startswith("number"), np.array(values, dtype=float)) for name, values in columns.items()
    ]
    return PlainRecords(tuple(made))


def test_numbers_are_grouped_by_quantiles_and_categories_by_frequency():
    rng = np.random.default_rng(1)
    numbers, places = rng.normal(size=1_000), rng.integers(0, 80, 1_000)
    places[:400] = 7
    real = records(number=numbers, few=places, number_of_few=rng.integers(0, 4, 1_000))
    grouping = ValueGroups.of(real)
    codes = grouping.codes(real)
    np.testing.assert_array_equal(np.bincount(codes[:, 0], minlength=11)[1:11], 100)
    assert codes[:, 1].max() == 50  # the fifty most frequent categories, and the others together
    assert len(np.unique(codes[places == 7, 1])) == 1
    assert len(np.unique(codes[:, 2])) == 4
    others = grouping.codes(records(number=[np.nan, -99, 99], few=[7, 81, 7.5], number_of_few=[0, np.nan, 9]))
    assert others.min() >= 0
    assert (others.max(axis=0) < grouping.sizes).all()
    assert others[0, 0] == others[1, 2] == 0
    assert others[1, 1] == others[2, 1] == 50


def test_vectors_are_standardised_numbers_and_indicators():
    real = records(number=[1, 3, np.nan, 5], category=[0, 2, 2, 0])
    encoder = Encoder.of(real)
    scale = np.sqrt(8 / 3)
    expected = [[-2 / scale, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 1, 0, 1, 0], [2 / scale, 0, 1, 0, 0]]
    np.testing.assert_allclose(encoder.vectors(real), expected)
    np.testing.assert_allclose(encoder.vectors(records(number=[11], category=[1])), [[8 / scale, 0, 0, 0, 1]])
    nothing = records(number=[np.nan, np.nan], number_too=[4, 4])
    np.testing.assert_allclose(Encoder.of(nothing).vectors(nothing), [[0, 1, 0, 0]] * 2)
