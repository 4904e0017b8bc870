"""Rounding drawn once: sums by nested views are rounded too, nothing is off on average, and chance is not wasted."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider.control import LastingRandomness
from aegis_provider.control.dependent_rounding import rounded_once, rounded_up
from aegis_provider.counting.counts import Partition
from tests.for_each import for_each

tables = st.integers(1, 4).flatmap(
    lambda labels: st.lists(st.lists(st.integers(0, 2**40), min_size=labels, max_size=labels), min_size=1, max_size=12)
)


def nested(values):
    """Return two nested partitions, the finer one in pairs."""
    fine = np.arange(values) // 2
    return [Partition(fine // 2, int(fine[-1]) // 2 + 1), Partition(fine, int(fine[-1]) + 1)]


def drawn(joint, views, base):
    up = rounded_up(joint.sum(axis=0), base, LastingRandomness())
    return up, rounded_once(joint, views, base, up, LastingRandomness())


@pytest.mark.long
@given(tables, st.integers(2, 50))
def test_every_count_and_every_sum_by_a_nested_view_becomes_a_multiple_next_to_it(rows, base):
    joint = np.array(rows, dtype=np.int64)
    views = nested(len(joint))
    up, rounded = drawn(joint, views, base)
    total = joint.sum(axis=0)
    assert np.array_equal(rounded.sum(axis=0), total - total % base + base * up)
    for view in (Partition.identity(len(joint)), *views):
        before, after = (np.zeros((view.size, joint.shape[1]), dtype=np.int64) for _ in range(2))
        np.add.at(before, view.groups, joint)
        np.add.at(after, view.groups, rounded)
        assert np.all(after % base == 0)
        assert np.all(abs(after - before) < base)
        assert np.all((after == before) | (before % base > 0))


@pytest.mark.long
@for_each("base", [3, 5, 8])
def test_counts_and_sums_are_off_by_nothing_on_average(base):
    joint = np.array([[1], [2], [7], [4], [0], [11], [6]], dtype=np.int64)
    draws = 4_000
    total = sum(drawn(joint, nested(7), base)[1] for _ in range(draws))
    remainder = joint % base
    # Seven standard errors: a chance of less than 3e-12 for each of the counts.
    limit = 7 * np.sqrt(remainder * (base - remainder) / draws)
    assert np.all(abs(total / draws - joint) <= limit)


def test_who_knows_the_rounding_learns_little_of_small_counts():
    """Every table of two values with counts up to 9, weighed by how often it is rounded to what was seen."""
    base, draws = 5, 30
    seen: dict[tuple[int, ...], Counter[tuple[int, ...]]] = {}
    for counts in product(range(10), repeat=2):
        joint = np.array(counts, dtype=np.int64)[:, np.newaxis]
        for _ in range(draws):
            _, rounded = drawn(joint, [], base)
            seen.setdefault(tuple(rounded.ravel().tolist()), Counter())[counts] += 1
    for published, origins in seen.items():
        if max(published) >= 10:  # larger counts can be rounded to these, too
            continue
        for cell in (0, 1):
            posterior = Counter()
            for counts, times in origins.items():
                posterior[counts[cell]] += times
            likeliest = max((times for count, times in posterior.items() if 1 <= count <= 4), default=0)
            assert likeliest < 0.9 * posterior.total()


def test_a_table_of_multiples_stays_as_it_is():
    joint = np.array([[5, 0], [10, 15]], dtype=np.int64)
    assert np.array_equal(drawn(joint, [], 5)[1], joint)
