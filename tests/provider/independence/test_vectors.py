"""The masked values of groups, and the exact test of independence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider.independence.vectors import MASKED, is_independent, starred
from tests.provider.independence.brute_force import is_exactly_independent

rows = st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, 1), st.integers(0, 2)), min_size=1, max_size=12)


@given(rows)
def test_independence_is_what_fractions_say(records):
    table = np.array(records)

    independent = is_independent(table[:, :2], table[:, 2])

    assert independent == is_exactly_independent([record[:2] for record in records], [record[2] for record in records])


@given(st.lists(st.integers(-1, 3), min_size=1, max_size=4), st.lists(st.integers(0, 3), min_size=1, max_size=4))
def test_every_vector_with_every_cluster_is_independent(vectors, clusters):
    both = np.array([(a, b) for a in vectors for b in clusters])

    assert is_independent(both[:, :1], both[:, 1])


def test_a_vector_that_misses_a_cluster_is_found():
    # The pairs that occur have the right counts for half of the table.
    assert not is_independent(np.array([[0], [0], [1], [1]]), np.array([0, 0, 1, 1]))


def test_large_counts_are_exact():
    vectors, clusters = np.arange(200_000).reshape(-1, 1) % 2, np.arange(200_000) // 2 % 2

    assert is_independent(vectors, clusters)
    vectors[0] = 1
    assert not is_independent(vectors, clusters)


def test_a_value_is_masked_where_its_group_disagrees():
    codes = np.array([[1, 5], [2, 6], [1, 7], [2, 6]])

    stars = starred(codes, np.array([1, 0, 1, 0]))

    assert stars.tolist() == [[False, True], [False, False], [False, True], [False, False]]
    assert np.where(stars, MASKED, codes).tolist() == [[1, -1], [2, 6], [1, -1], [2, 6]]


def test_a_record_alone_in_its_group_is_not_masked():
    assert not starred(np.arange(6).reshape(3, 2), np.array([2, 0, 1])).any()


def test_more_records_than_can_be_told_exactly_are_refused():
    many = np.lib.stride_tricks.as_strided(np.zeros((1, 1), dtype=np.int64), (1 << 31, 1), (0, 0))

    with pytest.raises(ValueError, match="too many"):
        is_independent(many, many[:, 0])
