"""Merging of all views of an attribute: no small counts, no small differences, and nesting as before."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider.counting.counts import Partition, common_refinement, finest_common_coarsening
from aegis_provider.counting.merging import Values, View, nested_merging


@st.composite
def tables(draw):
    """Draw (values, labels) joint counts without rare label values, partitions of the values, and a minimum."""
    values, least = draw(st.integers(2, 8)), draw(st.integers(2, 6))
    cells = st.lists(st.integers(0, 8), min_size=2 * values, max_size=2 * values)
    joint = np.array(draw(cells.filter(lambda each: all(not 0 < sum(each[y::2]) < least for y in (0, 1))))).reshape(
        -1, 2
    )
    groups = st.lists(st.integers(0, values - 1), min_size=values, max_size=values)
    runs = st.lists(st.booleans(), min_size=values, max_size=values).map(np.cumsum)
    partitions = [
        Partition.of(np.array(each)) for each in draw(st.lists(st.one_of(groups, runs), min_size=1, max_size=4))
    ]
    return joint, [*partitions, Partition.of(common_refinement(partitions).groups)], least


def views_of(joint, partitions):
    return [View(Partition.identity(len(joint)), joint).coarser(each) for each in partitions]


def is_small(counts, least):
    return bool(((counts > 0) & (counts < least)).any())


def differences(joint, coarse, fine):
    """Yield what is left of each group without some of the groups of a finer partition that it consists of."""
    for group in range(coarse.size):
        members = np.flatnonzero(coarse.groups == group)
        parts = sorted(set(fine.groups[members].tolist()))
        for size in range(len(parts)):
            for without in combinations(parts, size):
                yield joint[[place for place in members if fine.groups[place] not in without]].sum(axis=0)


@given(tables(), st.booleans(), st.booleans())
def test_no_count_and_no_difference_of_views_that_nest_is_small(table, ordered, missing):
    joint, partitions, least = table
    merged = nested_merging(views_of(joint, partitions), least, Values(ordered, missing))
    for coarse in merged:
        for fine in merged:
            if coarse.follows_from(fine):
                assert not any(is_small(each, least) for each in differences(joint, coarse, fine))


@given(tables(), st.booleans(), st.booleans())
def test_what_followed_from_another_view_still_does(table, ordered, missing):
    joint, partitions, least = table
    merged = nested_merging(views_of(joint, partitions), least, Values(ordered, missing))
    for old, new in zip(partitions, merged, strict=True):
        assert new.follows_from(old)
        for other_old, other_new in zip(partitions, merged, strict=True):
            assert not old.follows_from(other_old) or new.follows_from(other_new)


@given(tables(), st.booleans(), st.booleans())
def test_what_has_been_merged_stays_as_it_is(table, ordered, missing):
    joint, partitions, least = table
    values = Values(ordered, missing)
    merged = nested_merging(views_of(joint, partitions), least, values)
    again = nested_merging(views_of(joint, merged), least, values)
    assert [each.groups.tolist() for each in again] == [each.groups.tolist() for each in merged]


@given(tables())
def test_views_without_small_counts_are_not_merged(table):
    joint, partitions, _ = table
    merged = nested_merging(views_of(joint * 9, partitions), 9, Values(ordered=True, missing=False))
    assert [each.size for each in merged] == [each.size for each in partitions]


def test_a_small_cell_costs_one_merge():
    joint = np.array([[50, 50]] * 4 + [[50, 1]] + [[50, 50]] * 4)
    fine, coarse = Partition.identity(9), Partition.of(np.arange(9) // 3)
    merged = nested_merging(views_of(joint, [fine, coarse]), 5, Values(ordered=True, missing=False))
    assert [each.size for each in merged] == [8, 3]


def test_crossing_views_that_tell_a_small_cell_together_are_coarsened():
    joint = np.array([[9, 9], [9, 9], [2, 9], [9, 9], [9, 9]])
    crossing = [Partition.of(np.array([0, 0, 0, 1, 1])), Partition.of(np.array([0, 0, 1, 1, 1]))]
    together = Partition.of(common_refinement(crossing).groups)
    merged = nested_merging(views_of(joint, [*crossing, together]), 5, Values(ordered=True, missing=False))
    assert not is_small(View(Partition.identity(5), joint).coarser(common_refinement(merged)).joint, 5)
    assert sorted(each.size for each in merged) == [1, 2, 2]


@given(tables())
def test_the_finest_common_coarsening_links_what_either_links(table):
    _, (one, *_, other), _ = table
    common = finest_common_coarsening(one, other)
    reached = np.equal.outer(one.groups, one.groups) | np.equal.outer(other.groups, other.groups)
    for _ in range(len(reached)):
        reached = reached @ reached
    assert np.array_equal(np.equal.outer(common.groups, common.groups), reached)
