"""Maskings that are columns of another table, which was masked elsewhere."""

import csv
from collections import Counter

import pytest

from aegis_provider import (
    MinimumCell,
    PlanError,
    Requirement,
    TableError,
    apply,
    assess,
    find_configurations,
    load_plan,
    prepare_entry,
    write_plan,
)
from aegis_provider.disclosure import disclose
from aegis_sdk.reading.maskings import words_of
from aegis_sdk.wire import EntryDocument
from tests.for_each import for_each
from tests.provider.documents import summarize

TABLE = "a,b,y\n" + "".join(f"{n % 4},{n % 5},{'mn'[n % 3 > 0]}\n" for n in range(60))
MASKED = "b,A2,a,y\n" + "".join(
    f"1,{n % 2},{'*' if n % 7 == 0 else n % 4},{'mn'[n % 3 > 0]}\n" for n in range(60) if n not in {5, 11}
)
PLAN = """label: y
quasi_identifiers: [a, b]
attributes:
  a:
    maskings:
      twos: {bucketize: {width: 2}}
      m: {masked_table: {file: masked.csv}}
  b: {}
configurations: {plain: {a: twos}, hidden: {a: m}}
"""


@pytest.fixture
def table(write):
    write("masked.csv", MASKED)
    return write("t.csv", TABLE)


@pytest.fixture
def plan(write):
    return load_plan(write("plan.yaml", PLAN))


def counted(path, column):
    with path.open(newline="") as file:
        return Counter((row[column], row["y"]) for row in csv.DictReader(file))


@for_each(("parameters", "column"), [("", "a"), (", column: A2", "A2")])
def test_the_entry_has_the_joint_counts_of_that_column_and_no_mapping(write, table, tmp_path, parameters, column):
    plan = load_plan(write("plan.yaml", PLAN.replace("masked.csv", f"masked.csv{parameters}")))
    entry = summarize(table, plan, name="t")
    document = EntryDocument.model_validate(entry)
    masked = entry["attributes"][0]["maskings"][1]
    assert set(masked) == {"id", "function", "domain", "deterministic", "records", "joint"}
    assert masked["function"] == {"name": "masked_table", "parameters": {"column": column} if parameters else {}}
    assert (masked["deterministic"], masked["records"]) == (False, 58)
    found = {
        (value, label): count
        for value, row in zip(masked["domain"], masked["joint"], strict=True)
        for label, count in zip(entry["label"]["domain"], row, strict=True)
        if count
    }
    assert found == counted(tmp_path / "masked.csv", column)
    words = words_of(document.attributes[0].maskings[1])
    assert words == f"{f'column {column} of' if parameters else 'those of'} a table masked elsewhere"


def test_counts_that_are_small_are_rounded_to_a_minimum_and_stay(write):
    rows = [f"{n // 60 * 2},{n % 5},{'m' if n % 20 == 0 or (n > 60 and n % 2) else 'n'}\n" for n in range(120)]
    table = write("t.csv", "a,b,y\n" + "".join(rows))
    write("masked.csv", "a,b,y\n" + "".join(rows[:-2]))
    plan = load_plan(write("plan.yaml", PLAN))
    prepared = prepare_entry(table, plan, [MinimumCell(7)], name="t")
    masked = prepared.entry.attributes[0].maskings[1]
    assert (masked.rounded_to, masked.records) == (7, 112)
    assert all(count % 7 == 0 for row in masked.joint for count in row)
    assert prepared.controlled.changes.rounded == ("a, m",)
    assert [each.id for each in prepared.entry.configurations] == ["plain", "hidden"]
    assert disclose(prepared.entry, table=table, plan=prepared.plan).judged.verdict.passed


def test_records_are_said_only_where_some_were_left_out(write, plan):
    write("masked.csv", TABLE)
    masked = summarize(write("t.csv", TABLE), plan, name="t")["attributes"][0]["maskings"][1]
    assert "records" not in masked


@for_each(
    ("masked", "message"),
    [
        (None, "masked.csv: cannot be read: No such file or directory"),
        ("b,y\n1,m\n", "no column 'a'"),
        ("a,b\n1,1\n", "no column 'y'"),
        ("a,y\n", "the table has no records"),
        ("a,y\n1,m\n1,q\n", "masked.csv: line 3: t.csv has no y 'q'; is it masked too?"),
        ("a,y\n" + "1,m\n" * 21, "has 21 records of y 'm', but t.csv has 20; is it a masking of that table?"),
    ],
)
def test_a_file_that_is_no_masking_of_the_table_is_refused_with_its_place(
    write, plan, tmp_path, monkeypatch, masked, message
):
    write("t.csv", TABLE)
    if masked is not None:
        write("masked.csv", masked)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TableError) as raised:
        summarize("t.csv", plan, name="t")
    assert message in str(raised.value)
    assert str(raised.value).endswith("(plan.yaml: attributes.a.maskings.m)")


@for_each(
    ("parameters", "message"),
    [
        ("{}", "masked_table: `file` is missing"),
        ("{file: masked.csv, row: 1}", "masked_table: unknown key 'row'"),
        ("{file: masked.csv, column: ''}", "masked_table.column: a name must have 1 to 255 characters"),
    ],
)
def test_the_plan_says_what_is_wrong_with_it(write, parameters, message):
    with pytest.raises(PlanError) as raised:
        load_plan(write("plan.yaml", PLAN.replace("{file: masked.csv}", parameters)))
    assert str(raised.value).startswith(f"plan.yaml: attributes.a.maskings.m.{message}")


def test_its_pairs_are_refused(table, plan):
    with pytest.raises(PlanError, match=r"maskings\.m: has no pair counts, because it was masked elsewhere"):
        summarize(table, plan, name="t", pairs=True)


def test_it_is_not_applied_since_the_table_is_there(table, plan, tmp_path):
    with pytest.raises(
        PlanError, match=r"^plan\.yaml: attributes\.a\.maskings\.m: the values are those of masked\.csv"
    ):
        apply(table, plan, "hidden", tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()
    assert apply(table, plan, "plain", tmp_path / "out.csv").records == 60


def test_its_privacy_is_not_measured_and_that_of_others_is(table, plan):
    plain, hidden = assess(table, plan).releases
    assert plain.privacy["k"] == 6
    assert hidden.privacy == {}
    assert hidden.in_words() == "masked elsewhere (a): measure that table"
    assert hidden.holds is None


def test_the_search_leaves_it_out(table, plan):
    found = find_configurations(table, plan, Requirement({"k": 6}))
    assert {each.maskings["a"] for each in found.configurations} <= {"identity", "twos", "drop"}


def test_a_plan_that_is_written_elsewhere_finds_the_same_table(table, plan, tmp_path):
    (tmp_path / "found").mkdir()
    output = tmp_path / "found" / "plan.yaml"
    write_plan(tmp_path / "plan.yaml", plan, plan.configurations, output, "found")
    assert "file: ../masked.csv" in output.read_text()
    assert summarize(table, load_plan(output), name="t") == summarize(table, plan, name="t")
    assert tmp_path / "masked.csv" in [path.resolve() for path in load_plan(output).files]
