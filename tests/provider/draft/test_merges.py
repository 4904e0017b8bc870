"""Merges against enumeration, and against the greedy choice written out; and which of them look at the label."""

from itertools import combinations, pairwise
from math import log

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aegis_provider.draft.merges import best_levels, folded, merge_any, merge_neighbours, without_labels_of_rare

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
        joint = without_labels_of_rare(np.vstack([rare, common]), 20)
        return merge_any(joint, minimum, SIZES), best_levels(joint, merge_any, minimum, SIZES)

    assert rare.sum(axis=1).max() < 20
    assert merged(rare) == merged(flipped)


def test_values_that_are_not_rare_keep_their_labels_and_rare_ones_their_number():
    joint = np.array([[30, 10], [10, 9], [1, 0], [0, 30]])
    seen = without_labels_of_rare(joint, 20)
    assert np.array_equal(seen[[0, 3]], joint[[0, 3]])
    assert seen[1] == pytest.approx([19 * 3 / 7, 19 * 4 / 7])
    assert seen[2] == pytest.approx([3 / 7, 4 / 7])
    assert without_labels_of_rare(joint[1:3], 20).tolist() == [[9.5, 9.5], [0.5, 0.5]]


@given(records=st.lists(st.integers(1, 30), min_size=1, max_size=8), minimum=st.integers(1, 30))
def test_without_labels_intervals_are_as_even_as_possible(records, minimum):
    before = tuple((place,) for place in range(len(records)))
    joint = np.array(records)[:, np.newaxis]
    for size, groups in zip(SIZES, merge_neighbours(joint, minimum, SIZES), strict=True):
        sizes = {each: folded(joint, each).ravel() for each in into_intervals(before)}
        possible = [each for each, of in sizes.items() if len(each) <= size and of.min() >= minimum]
        largest = {each: sum(n * log(n) for n in sizes[each]) for each in possible or [groups]}
        assert largest[groups] == pytest.approx(min(largest.values()))
        before = groups


def counts(chances, records, seed):
    """(values, 2) The counts of labels that are drawn with these chances, as many records for each value."""
    ill = np.random.default_rng(seed).binomial(records, chances)
    return np.stack([records - ill, ill], axis=1)


MERGES = pytest.mark.parametrize("merge", [merge_any, merge_neighbours])


@MERGES
@pytest.mark.parametrize("values", [12, 60])
def test_a_label_that_is_chance_merges_nothing_but_by_chance(merge, values):
    believed = 0
    for seed in range(20):
        joint = counts(np.full(values, 0.3), 50, seed)
        levels = best_levels(joint, merge, 20, SIZES)
        is_even = [level.groups for level in levels] == merge(joint.sum(axis=1, keepdims=True), 20, SIZES)
        assert is_even == (not any(level.by_label for level in levels))
        believed += not is_even
    assert believed <= 3


@MERGES
@pytest.mark.parametrize("step", [7, 23, 51])
def test_a_label_that_changes_at_a_value_separates_the_values_there(merge, step):
    for seed in range(3):
        chances = np.where(np.arange(60) < step, 0.2, 0.6)
        *_, coarsest = best_levels(counts(chances, 200, seed), merge, 20, SIZES)
        assert coarsest.groups == (tuple(range(step)), tuple(range(step, 60)))
        assert coarsest.by_label


def test_fine_levels_are_even_where_those_of_the_label_follow_noise():
    """The chances of neighbours hardly differ, and 20 records do not tell which differ most."""
    for seed in range(5):
        joint = counts(np.linspace(0.2, 0.7, 128), 20, seed)
        finest, *_, coarsest = best_levels(joint, merge_neighbours, 20, (16, 8, 4, 2))
        assert (finest.by_label, coarsest.by_label) == (False, True)
