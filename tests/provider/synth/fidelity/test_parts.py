"""What released values are taken for, and which records models are tested on."""

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chisquare

from aegis_provider.errors import TableError
from aegis_provider.records import Column, Records
from aegis_provider.synth.fidelity.encoding import PlainRecords, stacked
from aegis_provider.synth.fidelity.parts import parts_of, records_of_rows
from aegis_provider.synth.fidelity.result import Relation
from aegis_provider.synth.released.opening import open_release
from aegis_provider.synth.released.released import Released


def texts_of(name, values, records):
    return {name: pa.array([values[each % len(values)] for each in range(records)])}


def test_a_value_stands_for_itself_and_a_masked_one_for_each_of_its_values_equally_often(as_records):
    ages = pa.array([str(each) for each in range(20, 30) for _ in range(each - 19)])
    towns = pa.array([["north", "south", "east"][each % 3] for each in range(len(ages))])
    records = as_records(pa.table({"age": ages, "town": towns}))
    masked = pa.table(
        {**texts_of("age", ["[20,25)", "25.5", "29", ""], 4_000), **texts_of("town", ["*", "east"], 4_000)}
    )
    drawn = PlainRecords.released(Released.of(records, masked), np.random.default_rng(0))
    age, town = (each.of_record for each in drawn.columns)
    values, counts = np.unique(age[::4], return_counts=True)
    assert values.tolist() == [20, 21, 22, 23, 24]
    assert chisquare(counts).pvalue > 1e-4
    assert set(age[1::4]) == {25.5}
    assert set(age[2::4]) == {29}
    assert np.isnan(age[3::4]).all()
    values, counts = np.unique(town[::2], return_counts=True)
    assert len(values) == 3
    assert chisquare(counts).pvalue > 1e-4
    assert set(town[1::2]) == {records.column("town").domain.places["east"]}


def test_real_records_are_their_numbers_and_places(people, as_records):
    records = as_records(people(50, 1))
    plain = PlainRecords.real(records)
    for column, original in zip(plain.columns, records.columns, strict=True):
        expected = original.places if original.numbers is None else original.numbers[original.places]
        np.testing.assert_array_equal(column.of_record, expected)
    both = stacked([plain, plain.take(np.arange(3))])
    assert len(both) == 53
    shuffled = plain.shuffled(np.random.default_rng(0))
    for before, after in zip(plain.columns, shuffled.columns, strict=True):
        np.testing.assert_array_equal(np.sort(before.of_record), np.sort(after.of_record))


def masked(table):
    """Ages in tens, towns as they are, every fifth income as `*`."""
    ages = [f"[{int(each) // 10 * 10},{int(each) // 10 * 10 + 10})" for each in table["age"].to_pylist()]
    incomes = ["*" if row % 5 == 0 else each for row, each in enumerate(table["income"].to_pylist())]
    return table.set_column(0, "age", [ages]).set_column(1, "income", [incomes])


def test_each_row_is_that_of_a_record_that_it_may_mask_though_records_are_left_out(people, as_records):
    table, rng = people(300, 2), np.random.default_rng(0)
    kept = rng.permutation(300)[:240]
    records = as_records(table)
    released = Released.of(records, masked(table).take(kept))
    rows = records_of_rows(released, records, rng)
    assert len(np.unique(rows)) == len(rows) == 240
    for column in released.columns:
        places = records.column(column.name).places[rows]
        assert all(place in column.meanings[code] for place, code in zip(places, column.codes, strict=True))
    assert (rows == kept).mean() > 0.5  # most are masked like no other


def test_rows_with_the_same_texts_are_taken_out_as_often_as_records_are_masked_so():
    towns = ["north"] * 6 + ["south"] * 4
    table = pa.table({"town": towns, "y": ["a", "b"] * 5})
    records = Records(tuple(Column.of(name, table[name].combine_chunks()) for name in table.column_names))
    for release in (table, table.take(np.arange(10)[::-1])):
        rows = records_of_rows(Released.of(records, release), records, np.random.default_rng(0))
        np.testing.assert_array_equal(np.sort(rows), np.arange(10))
        assert [towns[each] for each in rows] == release["town"].to_pylist()
    short = pa.table({"town": ["north"] * 9, "y": ["a"] * 9})
    rows = records_of_rows(Released.of(records, short), records, np.random.default_rng(0))
    assert sorted(rows[rows >= 0].tolist()) == [0, 2, 4]
    assert (rows == -1).sum() == 6


def test_rows_of_other_values_are_nobodys(people, as_records):
    records = as_records(people(300, 2))
    rows = records_of_rows(Released.of(records, people(300, 99)), records, np.random.default_rng(0))
    assert (rows == -1).mean() > 0.9


def test_held_out_records_have_attributes_that_no_other_record_has():
    rng = np.random.default_rng(3)
    texts = pa.table(
        {name: rng.integers(0, 30, 3_000).astype(str) for name in "ab"} | {"y": rng.choice(["u", "v"], 3_000)}
    )
    opened = open_release(texts, texts, label="y")
    parts = parts_of(opened, "r", 0)
    assert parts.tested_on is Relation.UNSEEN
    attributes = [
        {tuple(row) for row in np.stack([each.column(name).of_record for name in "ab"], axis=1)}
        for each in (parts.real, parts.tested)
    ]
    assert not attributes[0] & attributes[1]
    assert len(parts.tested) == len(opened.held_out) > 400


def test_tested_records_are_taken_out_of_a_masked_release_in_any_order(people):
    table = people(400, 4)
    release = masked(table).take(np.random.default_rng(1).permutation(400))
    parts = parts_of(open_release(release, table, label="sick"), "r", 0)
    assert parts.tested_on is Relation.TAKEN_OUT
    assert len(parts.real) == len(parts.released)
    assert len(parts.real) + len(parts.tested) == 400
    ages = [np.sort(each.column("age").of_record // 10) for each in (parts.real, parts.released)]
    np.testing.assert_array_equal(*ages)
    made_up = parts_of(open_release(people(400, 99), table, label="sick", holdout=0), "r", 0)
    assert made_up.tested_on is Relation.RELEASED
    assert len(made_up.released) == 400


def test_too_few_records_are_refused(people):
    table = people(300, 5)
    with pytest.raises(TableError, match=r"r: 3 records; a comparison needs at least 10"):
        parts_of(open_release(people(3, 6), table, label="sick"), "r", 0)
    with pytest.raises(TableError, match=r"real records to test on; a comparison needs"):
        parts_of(open_release(masked(table.slice(0, 12)), table.slice(0, 12), label="sick"), "r", 0)
