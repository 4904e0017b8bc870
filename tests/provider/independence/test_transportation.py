"""Pairings by the hub network, against the assignment problem on all pairs."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from aegis_provider.independence.vectors import MASKED, disagreements, distinct_rows, hub_network, paired
from tests.for_each import for_each


@st.composite
def sides(draw, *, stars=True):
    """Two sides of equally many vectors, some with stars."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    amount, attributes, values = draw(st.integers(1, 12)), draw(st.integers(1, 5)), draw(st.integers(1, 5))
    least = MASKED if stars else 0
    rows = random.integers(least, values, (2, amount, attributes))
    return tuple(rows)


def collapsed(rows):
    vectors, places = distinct_rows(rows)
    return vectors, np.bincount(places)


def least_cost(left, right):
    """Return the least cost by the Hungarian method on all pairs."""
    costs = np.array([[np.sum((v != w) | (v == MASKED)) for w in right] for v in left])
    return int(costs[linear_sum_assignment(costs)].sum())


@given(sides())
def test_the_network_finds_what_all_pairs_have(rows):
    (left, left_counts), (right, right_counts) = map(collapsed, rows)

    pairs = paired(left, left_counts, right, right_counts)

    assert pairs.least == least_cost(*rows)


@given(sides())
def test_pairs_use_every_vector_as_often_as_it_is_there_and_cost_what_is_said(rows):
    (left, left_counts), (right, right_counts) = map(collapsed, rows)

    pairs = paired(left, left_counts, right, right_counts)

    np.testing.assert_array_equal(np.bincount(pairs.left, pairs.amounts, len(left)), left_counts)
    np.testing.assert_array_equal(np.bincount(pairs.right, pairs.amounts, len(right)), right_counts)
    assert pairs.amounts.min() > 0
    assert pairs.amounts @ disagreements(left[pairs.left], right[pairs.right]) == pairs.least


@given(sides(stars=False))
def test_equal_vectors_are_paired_as_often_as_both_sides_have_them(rows):
    (left, left_counts), (right, right_counts) = map(collapsed, rows)

    pairs = paired(left, left_counts, right, right_counts)

    alike = np.all(left[pairs.left] == right[pairs.right], axis=1)
    both = sum(
        min((left_counts[v], right_counts[w]))
        for v, w in product(range(len(left)), range(len(right)))
        if np.array_equal(left[v], right[w])
    )
    assert pairs.amounts[alike].sum() == both


@given(sides(), st.integers(0, 200))
def test_with_too_few_arcs_the_cost_is_a_lower_bound(rows, most_arcs):
    (left, left_counts), (right, right_counts) = map(collapsed, rows)

    pairs = hub_network(left, right, most_arcs).cheapest_pairs(left_counts, right_counts)

    assert pairs.least <= least_cost(*rows)
    np.testing.assert_array_equal(np.bincount(pairs.left, pairs.amounts, len(left)), left_counts)
    np.testing.assert_array_equal(np.bincount(pairs.right, pairs.amounts, len(right)), right_counts)


def test_hubs_that_one_side_alone_reaches_are_left_out():
    left, right = np.array([[0, 1], [3, 1], [0, 4]]), np.array([[0, 2], [5, 2], [5, 6]])

    network = hub_network(left, right, most_arcs=17)

    # The hub of the first attribute joins two vectors to one; the hub of no attribute joins three to three.
    assert (network.left.tolist(), network.left_hubs.tolist()) == ([0, 2, 0, 1, 2], [0, 0, 1, 1, 1])
    assert (network.right.tolist(), network.right_hubs.tolist()) == ([0, 0, 1, 2], [0, 1, 1, 1])
    assert network.costs.tolist() == [1, 1, 2, 2, 2]


@for_each("attributes", [3, 12])
def test_far_pairs_count_as_far_as_hubs_reach(attributes):
    left, right = np.zeros((1, attributes), dtype=np.int64), np.ones((1, attributes), dtype=np.int64)

    costs = [hub_network(left, right, arcs).cheapest_pairs(np.array([4]), np.array([4])).least for arcs in (1, 2)]

    # Without room for a hub all pairs count as alike; with room for the pair, it costs its number of disagreements.
    assert costs == [0, 4 * attributes]


@pytest.mark.long
def test_many_vectors_of_many_attributes_are_paired_too():
    left, right = (distinct_rows(np.random.default_rng(seed).integers(0, 2, (2500, 16)))[0] for seed in (0, 1))
    left, right = left[:2300], right[:2300]

    pairs = paired(left, np.ones(2300, dtype=np.int64), right, np.ones(2300, dtype=np.int64))

    assert pairs.least <= pairs.amounts @ disagreements(left[pairs.left], right[pairs.right])
    assert np.unique(pairs.left).tolist() == np.unique(pairs.right).tolist() == list(range(2300))
