"""The two sides of a table: equal records are on one side, and whoever has the table finds the same sides."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider.records import Column, Records, sides_of

RECORDS = st.lists(st.tuples(st.sampled_from("abcde"), st.integers(0, 30)), min_size=1, max_size=120)


def records_of(rows):
    columns = list(zip(*rows, strict=True))
    return Records(tuple(Column.of(f"c{n}", pa.array(list(map(str, each)))) for n, each in enumerate(columns)))


def texts(records):
    each = [[column.domain.texts[place] for place in column.places] for column in records.columns]
    return list(zip(*each, strict=True))


@given(RECORDS, st.floats(0, 1))
def test_equal_records_are_on_one_side_and_none_is_lost(rows, share):
    sides = sides_of(records_of(rows), share)
    training, held_out = texts(sides.training), texts(sides.held_out)
    assert not set(training) & set(held_out)
    assert sorted(training + held_out) == sorted((one, str(two)) for one, two in rows)


@given(RECORDS, st.randoms(use_true_random=False))
def test_the_sides_do_not_depend_on_the_order_of_the_records(rows, random):
    shuffled = random.sample(rows, len(rows))
    first, second = (sides_of(records_of(each)).held_out for each in (rows, shuffled))
    assert sorted(texts(first)) == sorted(texts(second))


def test_about_the_share_of_distinct_records_is_held_out():
    rows = [(str(n), n) for n in range(5_000)]
    for share in (0.1, 0.2, 0.5):
        held = len(sides_of(records_of(rows), share).held_out)
        assert abs(held - 5_000 * share) < 5 * np.sqrt(5_000 * share * (1 - share))


def test_all_or_nothing_can_be_held_out():
    rows = [("a", n) for n in range(50)]
    assert [len(sides_of(records_of(rows), share).held_out) for share in (0, 1)] == [0, 50]
