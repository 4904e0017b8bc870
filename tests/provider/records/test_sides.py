"""The two sides of a table: equal records are on one side, and whoever has the table finds the same sides."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider.records import Column, Records, sides_of, validated_of

RECORDS = st.lists(
    st.tuples(st.sampled_from("abcde"), st.integers(0, 30), st.sampled_from("uv")), min_size=1, max_size=120
)


def records_of(rows):
    columns = list(zip(*rows, strict=True))
    return Records(tuple(Column.of(f"c{n}", pa.array(list(map(str, each)))) for n, each in enumerate(columns)))


def texts(records, names=None):
    columns = [records.column(name) for name in names or records.names]
    return list(zip(*([each.domain.texts[place] for place in each.places] for each in columns), strict=True))


@given(RECORDS, st.floats(0, 1))
def test_records_with_equal_attributes_are_on_one_side_and_none_is_lost(rows, share):
    sides = sides_of(records_of(rows), share)
    training, held_out = texts(sides.training), texts(sides.held_out)
    assert sorted(training + held_out) == sorted(tuple(map(str, row)) for row in rows)
    attributes = [set(texts(each, ["c0", "c1"])) for each in (sides.training, sides.held_out)]
    assert not attributes[0] & attributes[1]


@given(RECORDS, st.randoms(use_true_random=False))
def test_the_sides_do_not_depend_on_the_order_of_the_records(rows, random):
    shuffled = random.sample(rows, len(rows))
    first, second = (sides_of(records_of(each)).held_out for each in (rows, shuffled))
    assert sorted(texts(first)) == sorted(texts(second))


def test_about_the_share_of_distinct_records_is_held_out():
    rows = [(str(n), n, "u") for n in range(5_000)]
    for share in (0.1, 0.2, 0.5):
        held = len(sides_of(records_of(rows), share).held_out)
        assert abs(held - 5_000 * share) < 5 * np.sqrt(5_000 * share * (1 - share))


def test_all_or_nothing_can_be_held_out():
    rows = [("a", n, "u") for n in range(50)]
    assert [len(sides_of(records_of(rows), share).held_out) for share in (0, 1)] == [0, 50]


def test_models_are_compared_with_all_records_of_some_attributes_and_with_others_for_another_seed():
    rng = np.random.default_rng(0)
    records = records_of([(str(rng.integers(40)), rng.integers(40), "u") for _ in range(3_000)])
    one, again, other = (validated_of(records, 0.1, seed) for seed in (1, 1, 2))
    assert (one == again).all()
    assert abs(one.mean() - 0.1) < 0.03
    assert 0 < (one & other).mean() < 0.03
    attributes = [set(texts(records.take(each), ["c0", "c1"])) for each in (one, ~one)]
    assert not attributes[0] & attributes[1]


def test_records_that_repeat_are_drawn_one_by_one():
    records = records_of([("a", n % 2, "u") for n in range(1_000)])
    assert abs(validated_of(records, 0.1, 0).mean() - 0.1) < 0.05
