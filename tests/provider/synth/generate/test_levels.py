"""Levels: every value has one, each has enough records, and no rare value comes back."""

from collections import Counter
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider.errors import TableError
from aegis_provider.records import Column
from aegis_provider.synth.generate.levels import FEWEST, levels_of
from tests.for_each import for_each

NUMBERS = st.lists(st.one_of(st.integers(-50, 50), st.just(7), st.none()), min_size=40, max_size=300)


def column_of(values):
    return Column.of("a", pa.array(["" if each is None else str(each) for each in values]))


def drawn(levels, codes, seed=0):
    return levels.decoder.drawn(codes, np.random.default_rng(seed)).tolist()


@for_each("known", [0, 1, 4])
def test_numbers_of_too_few_records_are_missing(known):
    column = column_of([*range(known), *[None] * 60])
    levels = levels_of(column)
    assert levels.size == 1
    assert drawn(levels, levels.encode(column)) == [""] * (60 + known)


@for_each("missing", [0, 3, 5, 60])
def test_missing_dates_are_drawn_as_such(missing):
    column = column_of([f"2024-01-{day:02}" for day in range(1, 32)] * 2 + [None] * missing)
    levels = levels_of(column)
    texts = drawn(levels, levels.encode(column))
    assert texts.count("") == (missing if missing >= FEWEST else 0)
    assert all("2024-01-01" <= text <= "2024-01-31" for text in texts if text)


@given(NUMBERS)
def test_levels_of_numbers_are_stretches_with_enough_records(values):
    if sum(each is not None for each in values) < FEWEST:
        return
    column = column_of(values)
    levels = levels_of(column)
    codes = levels.encode(column)
    sizes = np.bincount(codes, minlength=levels.size)
    present = sizes[1:] if levels.missing == 0 else sizes
    assert present.min() >= FEWEST
    ordered = sorted((each, int(code)) for each, code in zip(values, codes, strict=True) if each is not None)
    assert [code for _, code in ordered] == sorted(code for _, code in ordered)
    np.testing.assert_allclose(levels.shares, sizes / len(values))


@given(NUMBERS, st.integers(0, 5))
def test_a_drawn_number_lies_in_its_level_and_no_further_out_than_five_records(values, seed):
    known = sorted(each for each in values if each is not None)
    if len(known) < FEWEST:
        return
    column = column_of(values)
    levels = levels_of(column)
    codes = levels.encode(column)
    for text, code in zip(drawn(levels, codes, seed), codes, strict=True):
        if code == levels.missing:
            assert text == ""
            continue
        number = int(text)
        assert sum(each <= number for each in known) >= FEWEST
        assert sum(each >= number for each in known) >= FEWEST
        mine = [each for each, own in zip(values, codes, strict=True) if own == code and each is not None]
        low, high = (min(max(each, known[FEWEST - 1]), known[-FEWEST]) for each in (min(mine), max(mine)))
        assert low <= number <= high


@given(st.lists(st.sampled_from(["a", "b", "c", "d", "e", "f", ""]), min_size=5, max_size=80), st.integers(0, 5))
def test_only_frequent_categories_are_drawn(values, seed):
    counts = Counter(values)
    column = Column.of("a", pa.array(values))
    if max(counts.values()) < FEWEST:
        with pytest.raises(TableError, match="would point to somebody"):
            levels_of(column)
        return
    levels = levels_of(column)
    codes = levels.encode(column)
    for text, value in zip(drawn(levels, codes, seed), values, strict=True):
        assert counts[text] >= FEWEST
        assert text == value or counts[value] < FEWEST


def test_frequent_numbers_have_levels_of_their_own_and_others_about_32():
    values = [0] * 9_000 + list(range(1, 1_001))
    levels = levels_of(column_of(values))
    assert levels.of_value[0] == 0
    assert np.count_nonzero(levels.of_value == 0) == 1
    assert 30 <= levels.size <= 36


@for_each(("rare", "decimals"), [(4, 0), (5, 4)])
def test_a_rare_number_does_not_give_the_others_its_decimals(rare, decimals):
    values = [str(n % 60) for n in range(600)] + ["33.1234"] * rare
    levels = levels_of(Column.of("a", pa.array(values)))
    told = drawn(levels, np.repeat(np.arange(levels.size), 20))
    assert {-Decimal(each).as_tuple().exponent for each in told} == {decimals}


def test_decimals_and_dates_are_written_like_those_of_the_table():
    numbers = [f"{n / 8:.3f}" for n in range(400)]
    levels = levels_of(Column.of("a", pa.array(numbers)))
    told = drawn(levels, np.repeat(np.arange(levels.size), 20))
    assert {-Decimal(each).as_tuple().exponent for each in told} == {3}
    days = [f"20{year:02}-0{month}-15" for year in range(10, 60) for month in range(1, 10)]
    dated = levels_of(Column.of("a", pa.array(days)))
    assert all("2010-01-15" <= each <= "2059-09-15" for each in drawn(dated, np.arange(dated.size)))


@for_each(
    "values",
    [
        ["1e300", "2e300", "-1e300"] * 20,
        ["0.000000001", "123456789012345678.5"] * 20,
        [str(10**30 + n) for n in range(99)],
    ],
)
def test_numbers_of_any_size_have_levels(values):
    levels = levels_of(Column.of("a", pa.array(values)))
    assert all(Decimal(each).is_finite() for each in drawn(levels, np.arange(levels.size)))


def test_a_column_without_any_value_has_one_level():
    levels = levels_of(Column.of("a", pa.array([""] * 30)))
    assert drawn(levels, np.zeros(3, dtype=np.intp)) == ["", "", ""]


def test_a_record_that_was_not_learnt_from_has_a_level_too():
    column = column_of([*range(100), *[5] * 50])
    learnt = column.take(np.flatnonzero(np.arange(150) % 7 > 0))
    levels = levels_of(learnt)
    assert np.all(levels.encode(column) < levels.size)
