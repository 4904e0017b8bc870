from dataclasses import replace

import numpy as np
import pytest

from aegis_provider.errors import TableError
from aegis_provider.synth.generate.methods.method import Knobs
from aegis_provider.synth.generate.methods.sequential import LEAVES, Trees, leaves_of
from tests.for_each import for_each
from tests.provider.synth.generate.methods.tasks import assert_drawn_from, only_model, random_columns, shares, task_of

RECORDS = 4_000
LEAF = 400


@pytest.fixture
def task():
    return task_of(random_columns(RECORDS))


def drawn(task, records=2 * RECORDS, seed=0):
    return only_model(Trees(), task).sample(records, np.random.default_rng(seed))


def test_pairs_that_a_leaf_tells_have_the_shares_of_the_training_records(task):
    codes = drawn(replace(task, knobs=Knobs(value=9.0)))
    for pair in ((0, 1), (1, 2)):
        drawn_shares, expected = (shares(each, pair, task.sizes) for each in (codes, task.codes))
        assert_drawn_from(drawn_shares * len(codes), expected, len(codes))


def test_leaves_have_as_many_records_as_they_should(task):
    for knobs in (Knobs(), Knobs(privacy=0.5), Knobs(value=9.0)):
        asked = replace(task, knobs=knobs)
        *steps, _ = only_model(Trees(), asked).steps
        for step, fewest in zip(steps, leaves_of(asked), strict=False):
            leaves = np.diff(step.leaves.below[step.leaves.first])
            assert leaves[leaves > 0].min() >= fewest


def test_weights_say_whose_leaves_a_knob_changes(task):
    weights, importance = np.array([1.0, 0.5, 0.0, 0.0]), np.array([0.0, 0.0, 1.0, 0.0])
    weighed = replace(task, privacy_weights=weights, importance=importance)
    assert leaves_of(weighed) == [LEAF] * 4
    assert leaves_of(replace(weighed, knobs=Knobs(privacy=2.0))) == [3 * LEAF, 2 * LEAF, LEAF, LEAF]
    assert leaves_of(replace(weighed, knobs=Knobs(value=1.0))) == [LEAF, LEAF, LEAF // 2, LEAF]
    assert leaves_of(replace(weighed, knobs=Knobs(privacy=1e6)))[:2] == [RECORDS, RECORDS]
    known = replace(weighed, knobs=Knobs(privacy=2.0), quasi_identifiers=np.array([False, True, True, False]))
    assert leaves_of(known) == [LEAF, 2 * LEAF, LEAF, LEAF]


@for_each(("records", "leaf"), [(1_000, LEAVES[0]), (5_000, 500), (20_000, LEAVES[1])])
def test_leaves_are_a_tenth_of_the_records_within_limits(records, leaf):
    assert leaves_of(task_of(random_columns(records))) == [leaf] * 4


def test_few_records_have_some_leaves():
    """A category follows a number; a single leaf would draw them on their own."""
    few = task_of(random_columns(1_000))
    found = shares(drawn(few, 4_000), (0, 1), few.sizes)
    assert np.trace(found) > 0.5


def test_with_most_privacy_columns_are_drawn_on_their_own(task):
    codes = drawn(replace(task, knobs=Knobs(privacy=1e6)))
    alone = [np.bincount(task.codes[:, each], minlength=task.sizes[each]) / RECORDS for each in range(4)]
    for one in range(4):
        for other in range(one):
            found = shares(codes, (other, one), task.sizes) * len(codes)
            assert_drawn_from(found, np.outer(alone[other], alone[one]), len(codes))


def test_the_label_follows_from_the_attributes(task):
    codes = drawn(task)
    rates = [np.bincount(each[:, 2], each[:, 3]) / np.bincount(each[:, 2]) for each in (codes, task.codes)]
    np.testing.assert_allclose(*rates, atol=0.05)
    assert np.ptp(rates[1]) > 0.5


def test_equal_seeds_make_equal_records(task):
    np.testing.assert_array_equal(drawn(task, 100), drawn(task, 100))
    assert (drawn(task, 100) != drawn(task, 100, seed=1)).any()


def test_one_class_and_no_attribute_are_learnt_and_no_record_is_an_error():
    one_class = task_of({"a": np.arange(100) % 5, "y": ["u"] * 100})
    assert set(drawn(one_class, 50)[:, 1]) == {0}
    alone = task_of({"y": ["u", "v"] * 50})
    assert set(drawn(alone, 50)[:, 0]) == {0, 1}
    with pytest.raises(TableError, match="no records"):
        only_model(Trees(), replace(one_class, codes=one_class.codes[:0]))
