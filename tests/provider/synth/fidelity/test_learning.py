"""How models read masked values: as the release shows them, and real records in the same way."""

import numpy as np
import pyarrow as pa
import pytest

from aegis_provider.check import check
from aegis_provider.synth.fidelity import Relation, fidelity
from aegis_provider.synth.fidelity.encoding import PlainRecords
from aegis_provider.synth.fidelity.parts import Lesson
from aegis_provider.synth.released.released import Released

PLAN = """
age: {maskings: {wide: {bucketize: {width: 30}}}}, town: {maskings: {side: {mapping: {north: A, south: A, east: B,
west: B}}}}, income: {type: number}
"""


def lesson_of(table, release, as_records):
    released = Released.of(as_records(table), release)
    return Lesson.of(released, PlainRecords.released(released, np.random.default_rng(0)), "sick")


def test_real_records_are_read_as_the_release_shows_them(people, as_records):
    table = people(200, 1)
    ages = [f"[{int(each) // 20 * 20},{int(each) // 20 * 20 + 20})" for each in table["age"].to_pylist()]
    towns = ["north | south" if each in {"north", "south"} else "east | west" for each in table["town"].to_pylist()]
    release = table.set_column(0, "age", [ages]).set_column(2, "town", [towns])
    lesson = lesson_of(table, release, as_records)
    for shown, read in zip(lesson.released.columns, lesson.read(as_records(table)).columns, strict=True):
        assert shown.is_numeric == read.is_numeric == (shown.name == "income")
        np.testing.assert_array_equal(shown.of_record, read.of_record)
    age = lesson.released.column("age").of_record
    order = np.argsort([int(each) for each in table["age"].to_pylist()], kind="stable")
    assert (np.diff(age[order]) >= 0).all()  # intervals have the order of their numbers
    assert len(np.unique(age)) == len(set(ages))


def test_hidden_numbers_are_missing_and_hidden_categories_a_value(people, as_records):
    table = people(200, 2)
    hidden = np.arange(200) % 4 == 0
    release = pa.table(
        {
            name: table[name]
            if name == "sick"
            else ["*" if gone else text for gone, text in zip(hidden, texts, strict=True)]
            for name, texts in ((name, table[name].to_pylist()) for name in table.column_names)
        }
    )
    lesson = lesson_of(table, release, as_records)
    read = lesson.read(as_records(table))
    for name in ("age", "income"):
        assert np.isnan(lesson.released.column(name).of_record[hidden]).all()
        np.testing.assert_array_equal(
            lesson.released.column(name).of_record[~hidden], read.column(name).of_record[~hidden]
        )
    towns = lesson.released.column("town").of_record
    assert len(np.unique(towns[hidden])) == 1
    assert towns[hidden][0] not in towns[~hidden]
    np.testing.assert_array_equal(towns[~hidden], read.column("town").of_record[~hidden])


def test_a_number_that_no_text_stands_for_is_read_as_the_nearest_and_one_that_all_texts_hide_as_hidden(as_records):
    table = pa.table({"age": [str(each) for each in range(10)] * 2, "sick": ["yes", "no"] * 10})
    gaps = pa.table({"age": ["[0,3)", "[7,9)"] * 5, "sick": ["yes", "no"] * 5})
    lesson = lesson_of(table, gaps, as_records)
    assert lesson.read(as_records(table)).column("age").of_record[:10].tolist() == [0] * 5 + [1] * 5
    lesson = lesson_of(table, pa.table({"age": ["[0,3)", "*"] * 5, "sick": ["yes", "no"] * 5}), as_records)
    assert lesson.read(as_records(table)).column("age").of_record[:10].tolist() == [1] * 3 + [0] * 7
    towns = pa.table({"town": ["a", "b", "c", "d"] * 5, "sick": ["yes", "no"] * 10})
    lesson = lesson_of(towns, pa.table({"town": ["a | b", "c"] * 5, "sick": ["yes", "no"] * 5}), as_records)
    assert lesson.read(as_records(towns)).column("town").of_record[:4].tolist() == [0, 0, 1, 2]


def test_what_is_not_masked_is_read_as_it_is(people, as_records):
    table = people(100, 3)
    lesson = lesson_of(table, people(80, 3, fresh=4), as_records)
    assert not lesson.of_value
    for read, real in zip(
        lesson.read(as_records(table)).columns, PlainRecords.real(as_records(table)).columns, strict=True
    ):
        np.testing.assert_array_equal(read.of_record, real.of_record)


@pytest.mark.long
def test_a_masked_table_keeps_what_a_check_of_its_configuration_says(people, plan_of):
    """The check masks the table by its plan, and trains and tests on folds."""
    table = people(2_000, 5)
    plan = plan_of("{" + PLAN + "}", "{c: {age: wide, town: side, income: drop}}", label="sick")
    checked = check(table, plan, ["c"], seconds=600)
    ages = [f"{int(each) // 30 * 30}-{int(each) // 30 * 30 + 29}" for each in table["age"].to_pylist()]
    towns = ["north | south" if each in {"north", "south"} else "east | west" for each in table["town"].to_pylist()]
    masked = pa.table({"age": ages, "town": towns, "sick": table["sick"]})
    masked = masked.take(np.random.default_rng(0).permutation(len(table)))
    result = fidelity(masked, table, plan=plan)
    assert result.tested_on is Relation.TAKEN_OUT
    for each in result.models:
        if each.model != "random forest":
            expected = checked.of("c", each.model).auc
            assert each.auc.low <= expected.high
            assert expected.low <= each.auc.high
            assert each.auc.value == pytest.approx(expected.value, abs=0.05)
