"""Merges against enumeration, and against the greedy choice written out."""

from itertools import combinations, pairwise
from math import log

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aegis_provider.draft.fitting import folded, merge_any, merge_neighbours, without_labels_of_rare

SIZES = (4, 3, 2)


def tables(most):
    """Counts of up to `most` values with two or three labels."""
    rows = st.integers(2, 3).flatmap(
        lambda labels: st.lists(
            st.lists(st.integers(0, 9), min_size=labels, max_size=labels), min_size=1, max_size=most
        )
    )
    return rows.map(lambda rows: np.array(rows, dtype=np.int64))


def information(joint):
    """The mutual information of (groups, labels) counts in nats, times the records."""
    total, groups, labels = joint.sum(), joint.sum(axis=1), joint.sum(axis=0)
    cells = [(n, groups[g], labels[y]) for (g, y), n in np.ndenumerate(joint) if n]
    return sum(n * log(n * total / (g * y)) for n, g, y in cells)


def into_intervals(groups):
    """All partitions of a sequence of groups into unions of neighbours."""
    places = range(1, len(groups))
    for number in range(len(groups)):
        for cuts in combinations(places, number):
            yield tuple(sum(groups[low:high], ()) for low, high in pairwise((0, *cuts, len(groups))))


@given(joint=tables(8), minimum=st.integers(1, 30))
def test_intervals_keep_the_most_information_of_all(joint, minimum):
    before = tuple((place,) for place in range(len(joint)))
    for size, groups in zip(SIZES, merge_neighbours(joint, minimum, SIZES), strict=True):
        possible = [
            each
            for each in into_intervals(before)
            if len(each) <= size and folded(joint, each).sum(axis=1).min() >= minimum
        ]
        best = max((information(folded(joint, each)) for each in possible), default=0.0)
        assert information(folded(joint, groups)) == pytest.approx(best, abs=1e-9)
        assert groups in (possible or [(tuple(range(len(joint))),)])
        before = groups


def best_merges(joint, groups, with_one_of):
    """The partitions after the merge that loses least, for each of these groups that one of the two may be."""
    for one in with_one_of:
        merged = [
            (*(each for each in groups if each not in (one, other)), one + other) for other in groups if other != one
        ]
        kept = [information(folded(joint, each)) for each in merged]
        yield from ((each, after) for each, after in zip(kept, merged, strict=True) if each >= max(kept) - 1e-9)


def merged_once(joint, minimum, groups):
    """The partitions after a greedy merge; several, if some are equally good."""
    records = {group: joint[list(group)].sum() for group in groups}
    smallest = [group for group in groups if records[group] == min(records.values())]
    if min(records.values()) < minimum:
        return [after for _, after in best_merges(joint, groups, smallest)]
    found = list(best_merges(joint, groups, groups))
    return [after for kept, after in found if kept >= max(kept for kept, _ in found) - 1e-9]


@given(joint=tables(7), minimum=st.integers(1, 30))
@example(joint=np.array([[0, 0], [1, 1], [0, 2], [2, 1]]), minimum=3)
@example(joint=np.array([[0, 0], [1, 2], [1, 1], [1, 3], [2, 1]]), minimum=4)
def test_unordered_values_are_merged_by_the_least_loss(joint, minimum):
    groups = frozenset((place,) for place in range(len(joint)))
    for size, merged in zip(SIZES, merge_any(joint, minimum, SIZES), strict=True):
        # Of merges that are equally good, one may lead to `merged` and another past it: all are followed.
        assert frozenset(merged) in merged_until(joint, minimum, size, groups, merged), "a worse merge was preferred"
        groups = frozenset(merged)


def merged_until(joint, minimum, size, groups, coarser):
    """The partitions at which greedy merges end that refine a coarser one."""
    if len(groups) == 1 or (folded(joint, groups).sum(axis=1).min() >= minimum and len(groups) <= size):
        return {groups}
    after = {frozenset(tuple(sorted(group)) for group in each) for each in merged_once(joint, minimum, groups)}
    return set().union(*(merged_until(joint, minimum, size, each, coarser) for each in after if refines(each, coarser)))


def refines(finer, coarser):
    return all(any(set(inner) <= set(outer) for outer in coarser) for inner in finer)


@given(joint=tables(9), minimum=st.integers(1, 40), merge=st.sampled_from([merge_any, merge_neighbours]))
def test_groups_nest_have_the_minimum_and_hold_every_value_once(joint, minimum, merge):
    before = tuple((place,) for place in range(len(joint)))
    for size, groups in zip(SIZES, merge(joint, minimum, SIZES), strict=True):
        assert len(groups) <= size
        assert sorted(sum(groups, ())) == list(range(len(joint)))
        assert refines(before, groups)
        assert len(groups) == 1 or folded(joint, groups).sum(axis=1).min() >= minimum
        before = groups


@given(joint=tables(12), common=tables(6), minimum=st.integers(1, 40), data=st.data())
def test_no_merge_depends_on_the_label_of_a_record_with_a_rare_value(joint, common, minimum, data):
    labels = min(joint.shape[1], common.shape[1])
    rare, common = joint[:, :labels] // 2, 20 + common[:, :labels] ** 2
    flipped = np.array([data.draw(st.permutations(row.tolist())) for row in rare])

    def merged(rare):
        return merge_any(without_labels_of_rare(np.vstack([rare, common]), 20), minimum, SIZES)

    assert rare.sum(axis=1).max() < 20
    assert merged(rare) == merged(flipped)


def test_values_that_are_not_rare_keep_their_labels_and_rare_ones_their_number():
    joint = np.array([[30, 10], [10, 9], [1, 0], [0, 30]])
    seen = without_labels_of_rare(joint, 20)
    assert np.array_equal(seen[[0, 3]], joint[[0, 3]])
    assert seen[1] == pytest.approx([19 * 3 / 7, 19 * 4 / 7])
    assert seen[2] == pytest.approx([3 / 7, 4 / 7])
    assert without_labels_of_rare(joint[1:3], 20).tolist() == [[9.5, 9.5], [0.5, 0.5]]
