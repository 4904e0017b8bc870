"""The two sides of a table: equal records are on one side, and whoever has the table finds the same sides."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider.plan.model import Attribute
from aegis_provider.records import Column, Records, held_out_of, read_records, sides_of, validated_of
from aegis_provider.table import open_table
from tests.for_each import for_each

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


SPELLINGS = {"": None, "1": 1, "1.0": 1, "+1": 1, "2": 2, "2.50": 2.5, "2.5": 2.5}
INCOMPLETE = st.lists(
    st.tuples(st.sampled_from(list(SPELLINGS)), st.sampled_from(["", "a", "b"]), st.sampled_from("uv")), min_size=1
)


@given(INCOMPLETE, st.floats(0, 1))
def test_equal_records_are_on_one_side_if_values_are_missing_and_numbers_are_written_in_several_ways(rows, share):
    held_out = held_out_of(records_of(rows), share)
    of_record = {}
    for (number, text, _), side in zip(rows, held_out, strict=True):
        assert of_record.setdefault((SPELLINGS[number], text), side) == side


NUMBERS, TEXTS = [None, 1.5, 2.0, None], ["a", None, "b", None]


def csv_of(path):
    rows = [f"{number},{text},u" for number, text in zip(["", "1.5", "2", '""'], ["a", '""', "b", ""], strict=True)]
    path.write_text("\n".join(["number,text,label", *rows * 50]) + "\n")


def parquet_of(numbers, texts):
    def written(path):
        pq.write_table(pa.table({"number": numbers * 50, "text": texts * 50, "label": ["u"] * 200}), path)

    return written


@for_each(
    ("name", "write_table"),
    [
        ("empty.csv", csv_of),
        ("null.parquet", parquet_of(NUMBERS, TEXTS)),
        ("nan.parquet", parquet_of([each or float("nan") for each in NUMBERS], [each or "" for each in TEXTS])),
    ],
)
def test_sides_do_not_depend_on_how_a_file_says_that_a_value_is_missing(tmp_path, name, write_table):
    write_table(tmp_path / name)
    with open_table(tmp_path / name) as opened:
        records = read_records(opened, [Attribute(each, None, ()) for each in ("number", "text")], "label")
    kinds = [("", "a", "u"), ("1.5", "", "u"), ("2", "b", "u"), ("", "", "u")]
    assert texts(records) == kinds * 50
    for share in (0.1, 0.3, 0.5, 0.7, 0.9):
        assert held_out_of(records, share).tolist() == held_out_of(records_of(kinds), share).tolist() * 50


def test_records_that_differ_in_a_missing_value_alone_go_to_a_side_each_on_their_own():
    held_out = held_out_of(records_of([(each, n, "u") for n in range(5_000) for each in ("a", "")]), 0.5)
    assert abs((held_out[::2] == held_out[1::2]).mean() - 0.5) < 5 * 0.5 / np.sqrt(5_000)


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
