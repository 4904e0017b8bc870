"""One spelling is written for one value, and promises are measured on the texts of the file."""

import csv
import random
import re
from collections import Counter

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from aegis_provider import PromiseError, apply, document_of, load_plan, prepare_entry, summarize
from aegis_provider.errors import OutputError, TableError
from aegis_provider.privacy import assess, plan_of_roles
from aegis_provider.receiving.verification import verify
from aegis_provider.release import table_file
from tests.for_each import for_each
from tests.provider.receiving.delivering import Provider, delivery_of

SPELLINGS = {
    "weight": [["60", "60.0", "+60", "6e1"], ["70.5", "70.50"], ["", ""]],
    "smokes": [["true", "TRUE", "True"], ["false", "FALSE"]],
    "owner": [["1", "yes", "YES"], ["0", "no"]],
    "y": [["true", "TRUE"], ["false", "False"]],
}
WRITTEN = {"weight": {"60", "70.5", ""}, "smokes": {"TRUE", "FALSE"}, "owner": {"1", "0"}, "y": {"TRUE", "False"}}
PLAN = """
label: y
attributes:
  weight: {hierarchy: {prefixes: [1]}}
  smokes: {}
  owner: {type: boolean}
configurations: {fine: {}, coarse: {weight: weight-1}, one: {weight: drop, smokes: drop}}
privacy: {fine: {k: 20}, coarse: {k: 20}, one: {k: 100}}
"""


def made(seed=1, records=600):
    """Return a table of texts by column in which a site spells values in its own way in one record of 50."""
    draw = random.Random(seed)

    def texts(values):
        chosen = draw.choices(values, k=records)
        return [draw.choice(value[1:]) if draw.random() < 0.02 else value[0] for value in chosen]

    return {name: texts(values) for name, values in SPELLINGS.items()}


@pytest.fixture
def plan(write):
    return load_plan(write("plan.yaml", PLAN))


def classes_in(path, label="y"):
    """Count the classes of a file by its raw texts, as any other program does."""
    if path.suffix == ".parquet":
        frame = pl.read_parquet(path)
        columns, rows = frame.columns, frame.rows()
    else:
        with path.open(encoding="utf-8", newline="") as file:
            columns, *rows = csv.reader(file)
    known = [place for place, name in enumerate(columns) if name != label]
    return columns, rows, Counter(tuple(row[place] for place in known) for row in rows)


def sources(folder):
    table = made()
    frame = pa.table(table)
    path = folder / "t.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([table, *zip(*table.values(), strict=True)])
    duckdb.sql("SELECT * FROM frame").write_parquet(str(folder / "t.parquet"))
    return path, folder / "t.parquet", frame, pd.DataFrame(table), pl.DataFrame(table)


def assert_applied(source, plan, configuration, output):
    """Apply, assert that k is that of the raw texts, and return the texts of each column."""
    reached = apply(source, plan, configuration, output).reached
    columns, rows, classes = classes_in(output)
    assert reached["k"] == min(classes.values()) >= plan.configuration(configuration).privacy["k"]
    assert len(rows) == 600
    return {name: set(texts) for name, texts in zip(columns, zip(*rows, strict=True), strict=True)}


@pytest.mark.long
def test_whatever_holds_the_table_each_value_is_written_in_one_way_and_k_is_that_of_the_texts(plan, tmp_path):
    for source in sources(tmp_path):
        assert assert_applied(source, plan, "fine", tmp_path / "m.csv") == WRITTEN
    flags = {each: {True, False} for each in ("smokes", "owner", "y")}
    typed = {"weight": {60.0, 70.5, None}, **flags}
    assert assert_applied(source, plan, "fine", tmp_path / "m.parquet") == typed
    assert assert_applied(source, plan, "coarse", tmp_path / "m.csv")["weight"] == {"6*", "7***", ""}
    assert assert_applied(source, plan, "one", tmp_path / "m.csv") == {each: WRITTEN[each] for each in ("owner", "y")}


def test_a_given_table_is_measured_by_its_texts(tmp_path, plan):
    path, *_ = sources(tmp_path)
    table, roles = made(), plan_of_roles(["weight", "smokes"], ["y"])
    assessed = assess(path, roles, require={"k": 5})
    classes = Counter(zip(table["weight"], table["smokes"], strict=True))
    labels = {each: set() for each in classes}
    for *of_record, label in zip(table["weight"], table["smokes"], table["y"], strict=True):
        labels[tuple(of_record)].add(label.lower())
    assert assessed.as_it_is.privacy["k"] == min(classes.values()) < 5
    assert assessed.as_it_is.privacy["l"] == min(map(len, labels.values())) == 1  # TRUE and true tell the same
    assert not assessed.as_it_is.holds
    releases = {each.id: each for each in assess(path, plan).releases}
    assert releases["fine"].privacy["k"] >= 20  # what apply writes


def test_l_is_that_of_the_values_although_their_texts_differ(write):
    table = write("t.csv", "a,income\n" + "x,5\nx,5.0\nx,+5\n" * 10 + "y,6.5\ny,7\n")
    assert assess(table, plan_of_roles(["a"], ["income"])).as_it_is.privacy["l"] == 1


def test_zero_is_one_value_whatever_its_sign(tmp_path, write):
    plan = load_plan(
        write("plan.yaml", "label: y\nattributes: {a: {}}\nconfigurations: {c: {}}\nprivacy: {c: {k: 2}}\n")
    )
    frame = pd.DataFrame({"a": [0.0, -0.0, 2.5, 2.5], "y": ["p", "q", "p", "q"]})
    assert assess(frame, plan).as_it_is.privacy["k"] == 2
    assert apply(frame, plan, "c", tmp_path / "m.csv").reached["k"] == 2
    assert classes_in(tmp_path / "m.csv")[2] == {("0",): 2, ("2.5",): 2}


def test_a_delivered_file_with_two_spellings_breaks_its_promise(tmp_path, plan):
    path, *_ = sources(tmp_path)
    provider = Provider(tmp_path, path, plan, exact=True)
    honest = provider.verified("fine")
    assert (honest.is_as_agreed, honest.compared.differing) == (True, 0)

    file, _ = provider.delivered("fine")
    file.write_text(
        re.sub("^60,", "60.0,", file.read_text(encoding="utf-8"), count=1, flags=re.MULTILINE), encoding="utf-8"
    )
    card = {"columns": [{"name": each, "role": "quasi-identifier"} for each in ("weight", "smokes", "owner")]}
    verified = verify(file, delivery_of(file, "fine", 600, {"k": 20}, card), provider.evidence("fine"))
    assert verified.compared.differing == 0  # the value is the same
    assert [fault.reason for fault in verified.faults] == ["k was to be >= 20, but is 1 in the file"]


def test_a_file_in_which_a_value_got_two_spellings_is_not_released(plan, tmp_path, monkeypatch):
    path, *_ = sources(tmp_path)
    write_csv = table_file.write_csv

    def spoilt(part, *rest):
        write_csv(part, *rest)
        part.write_text(part.read_text(encoding="utf-8").replace("\n60,", "\n60.0,", 1), encoding="utf-8")

    monkeypatch.setattr("aegis_provider.release.table_file.write_csv", spoilt)
    with pytest.raises(OutputError, match=r"spells a value in two ways, one of them '60\.0'"):
        apply(path, plan, "fine", tmp_path / "m.csv")
    assert not (tmp_path / "m.csv").exists()


WARDS = {"10": 43, "1E1": 64, "20": 56, "2E1": 55, "12": 54, "100": 65, "1E2": 63}


@pytest.fixture
def wards(write):
    draw = random.Random(4)
    rows = [f"{ward},{draw.choice('mf')},{draw.choice(['ill', 'well'])}" for ward, n in WARDS.items() for _ in range(n)]
    return write("ward.csv", "ward,sex,label\n" + "\n".join(rows) + "\n")


def ward_plan(write, ward):
    text = f"label: label\nattributes:\n  ward: {ward}\n  sex: {{}}\nconfigurations: {{c: {{}}}}\n"
    return load_plan(write("wards.yaml", text))


def test_codes_that_look_like_exponents_are_texts_and_the_plan_is_named(wards, write, tmp_path):
    plan = ward_plan(write, "{}")
    [ward, _] = document_of(summarize(wards, plan, name="w"))["attributes"]
    assert (ward["type"], dict(zip(ward["domain"], ward["histogram"], strict=True))) == ("string", WARDS)
    said = (
        f"ward: '1E1' is read as a code, so all its values are texts. If they are numbers, write `type: number` "
        f"({plan.source}: attributes.ward.type)"
    )
    assert apply(wards, plan, "c", tmp_path / "m.csv").warnings == (said,)
    assert said in prepare_entry(wards, plan, name="w").warnings
    assert said in prepare_entry(wards, plan, name="w", exact=True).warnings
    assert {row[0] for row in classes_in(tmp_path / "m.csv")[1]} == set(WARDS)


def test_a_masking_of_numbers_takes_no_code_for_one_unless_the_plan_says_so(wards, write, tmp_path):
    bucketized = "maskings: {tens: {bucketize: {width: 10}}}, default: tens"
    said = r"'1E1' may be a code; add `type: number` if it is a number \(.*wards\.yaml: attributes\.ward\.maskings"
    with pytest.raises(TableError, match=said):
        apply(wards, ward_plan(write, f"{{{bucketized}}}"), "c", tmp_path / "m.csv")
    apply(wards, ward_plan(write, f"{{type: number, {bucketized}}}"), "c", tmp_path / "m.csv")
    assert {row[0] for row in classes_in(tmp_path / "m.csv")[1]} == {"[10,20)", "[20,30)", "[100,110)"}


def test_a_plan_that_says_that_they_are_numbers_is_believed(wards, write, tmp_path):
    plan = ward_plan(write, "{type: number}")
    [ward, _] = document_of(summarize(wards, plan, name="w"))["attributes"]
    assert dict(zip(ward["domain"], ward["histogram"], strict=True)) == {"10": 107, "12": 54, "20": 111, "100": 128}
    assert not apply(wards, plan, "c", tmp_path / "m.csv").warnings
    assert {row[0] for row in classes_in(tmp_path / "m.csv")[1]} == {"10", "12", "20", "100"}


@for_each("ward", ["{type: integer}", "{type: date}"])
def test_a_value_that_is_not_of_the_type_names_the_line_of_the_plan(write, tmp_path, ward):
    with pytest.raises(Exception, match=r"line 2: ward '1x' is not a .*wards\.yaml: attributes\.ward\.type\)"):
        apply(write("t.csv", "ward,sex,label\n1x,m,a\n"), ward_plan(write, ward), "c", tmp_path / "m.csv")


def test_a_number_that_may_be_a_code_is_named_too(write, tmp_path):
    plan = ward_plan(write, "{}")
    table = write("t.csv", "ward,sex,label\n1E1,m,a\n10,f,b\n2.5,m,a\n")
    [said] = apply(table, plan, "c", tmp_path / "m.csv").warnings
    assert said.startswith("ward: '1E1' is read as the number 10. If it is a code, write `type: string`")


def test_a_promise_that_only_merged_spellings_keep_is_kept(write, tmp_path):
    plan = load_plan(
        write("plan.yaml", "label: y\nattributes: {a: {}}\nconfigurations: {c: {}}\nprivacy: {c: {k: 2}}\n")
    )
    apply(write("t.csv", "a,y\n1.0,p\n1,q\n2,p\n2,q\n"), plan, "c", tmp_path / "m.csv")
    with pytest.raises(PromiseError, match="k >= 2, but reaches 1"):
        apply(write("t.csv", "a,y\n10,p\n1e1,q\n2,p\n2,q\n"), plan, "c", tmp_path / "m.csv")
