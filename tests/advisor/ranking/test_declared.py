"""Ranking by declared utilities, beside sums over plain lists."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from aegis_advisor.ranking import DeclaredUtilities, kept_shares, ordered, rank_declared

NUMBERS = st.integers(-100, 100).map(lambda number: number / 100)


def utilities_of(values, better="higher", reference=None):
    """Utilities with intervals of 0.1 to each side; the reference is the best of them unless it is given."""
    values = np.array(values, dtype=float)
    best = (values.max(axis=0) if better == "higher" else values.min(axis=0)) if reference is None else reference
    return DeclaredUtilities(np.stack([values, values - 0.1, values + 0.1], axis=2), np.array(best), better)


@given(data=st.data(), better=st.sampled_from(["higher", "lower"]))
def test_configurations_are_in_the_order_of_their_weighted_utilities(data, better):
    shape = data.draw(st.tuples(st.integers(1, 6), st.integers(1, 3)))
    values = data.draw(arrays.arrays(float, shape, elements=NUMBERS))
    weights = data.draw(arrays.arrays(float, shape[1], elements=st.integers(1, 4).map(float)))
    weights /= weights.sum()
    ranking = rank_declared(utilities_of(values, better), weights)
    means = [sum(w * value for w, value in zip(weights, row, strict=True)) for row in values]
    best = [(max if better == "higher" else min)(column) for column in values.T]
    whole = sum(w * value for w, value in zip(weights, best, strict=True))
    for place, row in enumerate(ranking.order):
        assert ranking.numbers[place] == pytest.approx([means[row], means[row] - 0.1, means[row] + 0.1])
        assert ranking.deviation[place] == pytest.approx(abs(whole - means[row]), abs=1e-12)
    assert np.all(np.diff(ranking.deviation) >= -1e-8)
    assert set(ranking.tied) == {row for row, rank in zip(ranking.order, ranking.rank, strict=True) if rank == 1}


def test_ties_share_a_rank_and_keep_their_order():
    order, rank = ordered(np.array([0.3, 0.1 + 0.2, 0.1, 0.7, 0.1]))
    assert (order.tolist(), rank.tolist()) == ([2, 4, 0, 1, 3], [1, 1, 3, 3, 5])
    assert [part.tolist() for part in ordered(np.zeros(3))] == [[0, 1, 2], [1, 1, 1]]


def test_a_limit_shortens_the_rows_and_not_the_ties():
    ranking = rank_declared(utilities_of([[0.2], [0.5], [0.5]]), np.ones(1), limit=1)
    assert (ranking.order.tolist(), ranking.tied.tolist()) == ([1], [1, 2])


def test_shares_are_of_the_distance_of_the_reference_from_nothing():
    assert kept_shares(np.array([0.3, -0.2, 0.4]), np.array(0.4), 0.0, "higher").tolist() == [0.75, 0.0, 1.0]
    errors = kept_shares(np.array([[0.64], [0.75], [0.6]]), np.array([0.6]), 0.7, "lower")
    assert errors.ravel().tolist() == [0.6, 0.0, 1.0]
    assert kept_shares(np.array([1 / 3]), np.array([1.0]), 0.0, "higher").tolist() == [0.33]


def test_where_nothing_is_told_only_harm_loses():
    assert kept_shares(np.array([0.0, -0.1]), np.array(0.0), 0.0, "higher").tolist() == [1.0, 0.0]
    assert kept_shares(np.array([0.7, 0.8]), np.array(0.7), 0.7, "lower").tolist() == [1.0, 0.0]


def test_a_reference_that_no_configuration_reaches_counts():
    """The unmasked records may tell more than any release."""
    ranking = rank_declared(utilities_of([[0.2], [0.3]], reference=[0.5]), np.ones(1))
    assert ranking.deviation == pytest.approx([0.2, 0.3])
