"""The choice of masked values to merge, against all partitions and by properties that must always hold."""

from itertools import combinations, pairwise
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider.counting.merged_table import merged_texts
from aegis_provider.counting.merging import best_runs, folded, informative_runs, merged_groups
from tests.for_each import for_each

ROWS = st.lists(st.tuples(*[st.integers(0, 6)] * 2), min_size=1, max_size=9)
LEAST = st.integers(2, 8)


def holds(rows, least):
    return all(count == 0 or count >= least for row in rows for count in row)


def information(rows):
    """Return the mutual information of rows and columns, in nats, times the records, by the definition."""
    total, columns = sum(map(sum, rows)), [sum(column) for column in zip(*rows, strict=True)]
    return sum(
        count * log(count * total / (sum(row) * columns[place]))
        for row in rows
        for place, count in enumerate(row)
        if count
    )


def runs_of(rows):
    """Yield all partitions into contiguous runs, each as the sums of its runs."""
    for size in range(len(rows)):
        for cuts in combinations(range(1, len(rows)), size):
            ends = [0, *cuts, len(rows)]
            yield [[sum(column) for column in zip(*rows[start:end], strict=True)] for start, end in pairwise(ends)]


def enough(joint, least):
    columns = joint.sum(axis=0)
    return bool(np.all((columns == 0) | (columns >= least)))


@given(ROWS, LEAST)
def test_the_runs_are_the_best_of_all_partitions_into_runs(rows, least):
    joint = np.array(rows, dtype=np.int64)
    allowed = [sums for sums in runs_of(rows) if holds(sums, least)]
    groups = best_runs(joint, least)
    if not allowed:
        assert groups is None
        return
    assert set(np.diff(groups)) <= {0, 1}
    found = folded(joint, groups).tolist()
    assert holds(found, least)
    assert information(found) == pytest.approx(max(map(information, allowed)), abs=1e-6)


@given(ROWS, st.integers(1, 30), st.integers(1, 8))
def test_runs_with_few_records_are_those_that_are_worth_it_in_the_best_partition(rows, least, fewest):
    joint = np.array(rows, dtype=np.int64)
    labels, records = np.count_nonzero(joint.any(axis=0)), int(joint.sum())
    cost = (0.5 * max(labels - 1, 1) + 1) * log(max(records, 2))

    def worth(sums):
        return information(sums) - cost * sum(sum(row) < least for row in sums)

    runs = informative_runs(joint, least, fewest)
    found = folded(joint, runs).tolist()
    allowed = [sums for sums in runs_of(rows) if all(sum(row) >= fewest for row in sums)]
    assert set(np.diff(runs)) <= {0, 1}
    if not allowed:
        assert len(found) == 1
        return
    assert worth(found) == pytest.approx(max(map(worth, allowed)), abs=1e-6)


@given(ROWS, LEAST)
def test_missing_values_go_where_most_is_kept_of_all_runs_that_could_take_them(rows, least):
    joint = np.array(rows, dtype=np.int64)
    if len(rows) == 1 or not enough(joint, least):
        return
    apart = [[rows[0], *sums] for sums in runs_of(rows[1:])]
    taken = [
        [[sum(both) for both in zip(run, rows[0], strict=True)] if at == place else run for at, run in enumerate(sums)]
        for sums in runs_of(rows[1:])
        for place in range(len(sums))
    ]
    allowed = next(filter(None, ([sums for sums in each if holds(sums, least)] for each in (apart, taken))))
    groups = merged_groups(joint, least, ordered=True, missing=True)
    if groups is None:
        assert max(map(len, allowed)) == 1
        return
    found = folded(joint, groups).tolist()
    assert holds(found, least)
    assert information(found) == pytest.approx(max(map(information, allowed)), abs=1e-6)


@given(ROWS, LEAST, st.booleans(), st.booleans())
def test_no_small_count_is_left_and_no_record_is_lost(rows, least, ordered, missing):
    joint = np.array(rows, dtype=np.int64)
    if not enough(joint, least):
        return
    groups = merged_groups(joint, least, ordered=ordered, missing=missing)
    if groups is None:
        return
    found = folded(joint, groups)
    assert holds(found.tolist(), least)
    assert found.sum(axis=0).tolist() == joint.sum(axis=0).tolist()
    assert sorted(set(groups.tolist())) == list(range(len(found)))
    if ordered:
        assert np.all(np.diff(groups[missing:]) >= 0)


def test_of_partitions_that_tell_as_much_the_finer_is_taken():
    same = np.array([[5, 10]] * 6)
    assert best_runs(same, 5).tolist() == [0, 1, 2, 3, 4, 5]
    assert best_runs(same, 10).tolist() == [0, 0, 1, 1, 2, 2]


def test_unordered_values_merge_with_the_one_that_is_most_alike_wherever_it_stands():
    joint = np.array([[1, 3], [50, 10], [10, 30], [30, 10]])
    assert merged_groups(joint, 5, ordered=False, missing=False).tolist() == [1, 0, 1, 2]


@for_each("ordered", [True, False])
def test_missing_values_stay_by_themselves_while_they_can_and_then_join_the_most_alike(ordered):
    joint = np.array([[9, 9], [1, 9], [9, 1]])
    assert merged_groups(joint, 5, ordered=ordered, missing=True).tolist() == [0, 1, 1]
    few = np.array([[1, 0], [9, 9], [6, 20]])
    assert merged_groups(few, 5, ordered=ordered, missing=True).tolist() == [0, 0, 1]


def test_where_all_would_be_one_there_is_nothing_to_merge_to():
    assert merged_groups(np.array([[4, 4], [4, 4]]), 5, ordered=True, missing=False) is None
    assert merged_groups(np.array([[4, 4], [4, 4]]), 5, ordered=False, missing=False) is None
    assert merged_groups(np.array([[4, 4], [4, 4]]), 5, ordered=True, missing=True) is None
    assert merged_groups(np.array([[4, 0]]), 5, ordered=True, missing=True) is None


def test_thousands_of_values_in_order_are_merged_before_the_best_is_looked_for():
    joint = np.random.default_rng(1).integers(0, 3, (7001, 3))
    groups = merged_groups(joint, 5, ordered=True, missing=False)
    assert set(np.diff(groups)) <= {0, 1}
    assert holds(folded(joint, groups).tolist(), 5)
    assert groups.max() > 500


def test_merged_values_are_named_by_their_ends_or_one_by_one():
    assert merged_texts([["0-2", "3-5", "6-8"]], [], ordered=True) == ["0-2 to 6-8"]
    assert merged_texts([["", "0-2", "3-5"]], [], ordered=True) == ["0-2 to 3-5 or missing"]
    assert merged_texts([["", "0-2"]], [], ordered=True) == ["0-2 or missing"]
    assert merged_texts([["a", "b"], ["c", "d", "e"]], [], ordered=False) == ["a or b", "c or d or e"]
    assert merged_texts([["", "a", "b", "c", "d"]], [], ordered=False) == ["a or 3 others or missing"]
    assert merged_texts([["a" * 70, "b"]], [], ordered=False) == [f"{'a' * 40}... or 1 other"]


@given(st.lists(st.lists(st.sampled_from(["", "a", "b", "a or b", "a to b"]), min_size=2, unique=True), max_size=4))
def test_no_two_texts_are_the_same_and_none_was_one_before(groups):
    known = ["", "a", "b", "a or b", "a to b", "a or b (2)"]
    for ordered in (True, False):
        texts = merged_texts(groups, known, ordered=ordered)
        assert len({*texts, *known}) == len(texts) + len(known)
