"""`aegis risk RELEASE --against TABLE` as people run it, on small tables, masked tables and bad input."""

import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from tests.for_each import for_each

PLAN = """
label: sick
attributes:
  age: {maskings: {tens: {bucketize: {width: 10}}}}
  town: {maskings: {parts: {mapping: {north: A, south: A, east: B, west: B}}, gone: {suppress: {}}}}
  plan: {}
quasi_identifiers: [age, town]
configurations:
  coarse: {age: tens, town: parts}
  coarser: {age: tens, town: gone, plan: drop}
"""


@pytest.fixture
def people(tmp_path):
    rng = np.random.default_rng(0)
    lines = [
        f"{rng.integers(18, 90)},{rng.choice(['north', 'south', 'east', 'west'])},{rng.integers(100)},"
        f"{rng.choice(['yes', 'no'])}"
        for _ in range(300)
    ]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["age,town,plan,sick", *lines]) + "\n")
    return path


@pytest.fixture
def plan(tmp_path):
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN)
    return path


def test_a_copy_is_judged_in_one_line_and_a_table(aegis, people, tmp_path):
    page = tmp_path / "attacks.html"
    code, out, err = aegis("risk", people, "--against", people, "--label", "sick", "--holdout", 0, "--html", page)
    assert (code, err) == (1, "")
    first, *_ = out.splitlines()
    assert first.startswith("FAIL: The strongest attack works: exact copies (all released columns) reaches 100 %, ")
    assert "without the release" in first
    assert "Not tried: membership by nearest record" in out
    html = page.read_text()
    assert "<svg" in html
    assert "Wilson" not in html
    assert "300 of 300 released records equal a real one" in html


def test_json_has_every_variant(aegis, people):
    code, out, _ = aegis("risk", people, "--against", people, "--label", "sick", "--json")
    document = json.loads(out)
    assert code == 1
    assert document["holdout"] == 0.2
    assert document["records"]["seen"] + document["records"]["held_out"] == 300
    variants = [each["variant"] for each in document["attacks"] if each["name"] == "attribute disclosure"]
    assert variants == [f"sick, k = {k}" for k in range(1, 11)]
    for each in (attack["success"] for attack in document["attacks"]):
        assert each["low"] <= each["value"] <= each["high"]
    assert document["headline"].startswith("NOT JUDGED: the release has ")
    assert document["result"] == "not judged"
    assert "say --holdout 0" in document["headline"]


def test_a_masked_table_is_read_as_its_plan_masked_it(aegis, people, plan, tmp_path):
    masked = tmp_path / "masked.csv"
    told = ("--plan", plan, "--configuration", "coarse")
    assert aegis("apply", people, "--stays", *told, "--output", masked)[0] == 0
    code, out, _ = aegis("risk", masked, "--against", people, *told, "--json")
    with_plan = json.loads(out)
    assert code == 1  # some attack is too strong, or none can be compared
    assert with_plan["holdout"] == 0
    assert with_plan["not_understood"] == {}
    assert with_plan["not_judged"] == []
    assert with_plan["quasi_identifiers"] == ["age", "town"]
    without = json.loads(aegis("risk", masked, "--against", people, "--label", "sick", "--json")[1])
    assert without["holdout"] == 0
    assert without["not_understood"] == {"town": {"share": 1.0, "looks": ["a"]}}
    assert without["not_judged"] == ["town"]


def test_a_masked_table_has_seen_all_records_whatever_is_said(aegis, people, plan, tmp_path):
    masked = tmp_path / "masked.csv"
    told = ("--against", people, "--plan", plan, "--configuration", "coarser")
    aegis("apply", people, "--stays", *told[2:], "--output", masked)
    for command in (("risk",), ("synth", "fidelity")):
        code, out, err = aegis(*command, masked, *told, "--holdout", 0.2)
        assert (code != 0, out) == (True, "")
        assert err == "aegis: --configuration masks all records, so none can be held out; omit --holdout\n"
    code, out, _ = aegis("risk", masked, *told)
    assert code == 1
    assert out.startswith("NOT JUDGED: ")
    assert "a masked table has seen all records, so none can be held out" in out.splitlines()[0]
    assert "--holdout" not in out


def test_a_table_that_is_rounded_record_by_record_is_no_pass(aegis, people, tmp_path):
    """Each rounded number is one of the table, too, so nothing but their number tells that all records are in it."""
    header, *lines = people.read_text().splitlines()
    split = [line.split(",") for line in lines]
    rounded = [f"{age[0]}0,{town},{plan[0]},{sick}" for age, town, plan, sick in split]
    (tmp_path / "rounded.csv").write_text("\n".join([header, *rounded]))
    code, out, _ = aegis("risk", tmp_path / "rounded.csv", "--against", people, "--label", "sick")
    assert code == 1
    assert out.startswith("NOT JUDGED: the release has about as many records as the table")


def test_it_is_said_that_no_column_was_named(aegis, people):
    told = ("risk", people, "--against", people, "--seconds", 0)
    out = aegis(*told)[1]
    assert "Not tried: inference, because no sensitive attribute was named (--sensitive sick, or --plan)." in out
    assert "knows age, town, plan, sick; no column was named as sensitive or known, so all count as known." in out
    out = aegis(*told, "--quasi-identifiers", "age,sick")[1]
    assert "Not tried: inference, because no sensitive attribute was named (--sensitive plan, or --plan)." in out
    assert "The attacker knows age, sick.\n" in out


def test_columns_that_are_dropped_are_named(aegis, people, plan, tmp_path):
    masked = tmp_path / "masked.csv"
    told = ("--plan", plan, "--configuration", "coarser")
    aegis("apply", people, "--stays", *told, "--output", masked)
    document = json.loads(aegis("risk", masked, "--against", people, *told, "--json")[1])
    assert document["not_released"] == ["plan"]


BAD = {
    "no common column": ("a,b\n1,2\n", (), "no column of"),
    "no record": ("age,town,plan,sick\n", (), "no record"),
    "unknown label": ("age,town\n1,north\n", ("--label", "ill"), "no column 'ill'"),
    "label not released": ("age,town\n1,north\n", ("--label", "sick"), "no column 'sick'"),
    "promises": ("age\n1\n", ("--require", "k=2"), "--require cannot be combined with --against"),
    "configuration alone": ("age\n1\n", ("--configuration", "coarse"), "give --plan too"),
}


@for_each("name", BAD)
def test_bad_input_is_one_line(aegis, people, tmp_path, name):
    content, options, expected = BAD[name]
    release = tmp_path / "release.csv"
    release.write_text(content)
    code, out, err = aegis("risk", release, "--against", people, *options)
    assert code != 0
    assert out == ""
    assert len(err.strip().splitlines()) == 1
    assert expected in err


DELIMITERS = {
    "the table": (",", ";", "table.csv: looks separated by semicolons, unlike release.csv; write both alike"),
    "the release": ("\t", ",", "release.csv: looks separated by tabs, unlike table.csv; write both alike"),
    "both": (";", ";", "table.csv: looks separated by semicolons; add --delimiter ';'"),
}


@for_each(
    ("name", "options"),
    [*((name, ()) for name in DELIMITERS), ("the table", ("--label", "c")), ("both", ("--plan", "plan.yaml"))],
)
def test_a_delimiter_is_found_and_one_that_is_wrongly_named_is_told(aegis, tmp_path, monkeypatch, name, options):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.yaml").write_text("label: c\nattributes: {a: {}, b: {}}\n")
    *marks, expected = DELIMITERS[name]
    for file, mark in zip(("release.csv", "table.csv"), marks, strict=True):
        (tmp_path / file).write_text("\n".join(["a,b,c", *["1,2,x"] * 20]).replace(",", mark))
    asked = ("risk", "release.csv", "--against", "table.csv", *options)
    code, _, err = aegis(*asked, "--delimiter", ",")
    assert (code != 0, err.strip()) == (True, f"aegis: {expected}")
    assert "at least 10 are needed" not in aegis(*asked)[1]


def test_three_records_are_too_few(aegis, people, tmp_path):
    small = tmp_path / "small.csv"
    small.write_text("age,town\n1,a\n2,b\n3,c\n")
    code, _, err = aegis("risk", people, "--against", small)
    assert code != 0
    assert "3 records; at least 10 are needed" in err


def test_options_of_attacks_need_a_table(aegis, people):
    code, _, err = aegis("risk", people, "--quasi-identifiers", "age", "--holdout", 0.2)
    assert code != 0
    assert "--against" in err


ODD = {
    "constant": lambda _: ["a,b,c"] + ["1,x,yes"] * 60,
    "one class": lambda rng: ["a,b,c"] + [f"{rng.integers(9)},{rng.integers(9)},yes" for _ in range(60)],
    "all missing": lambda rng: ["a,b,c"] + [f",{rng.integers(9)},{rng.integers(2)}" for _ in range(60)],
    "nothing at all": lambda _: ["a,b,c"] + [",,"] * 60,
    "identifiers": lambda rng: ["a,b,c"] + [f"n{n},{n},{rng.integers(2)}" for n in range(60)],
    "one column": lambda _: ["c"] + [f"{n}" for n in range(60)],
}


@for_each("name", ODD)
@pytest.mark.parametrize("holdout", [pytest.param(0, marks=pytest.mark.long), 0.3])
def test_odd_tables_are_attacked_all_the_same(aegis, tmp_path, name, holdout):
    table = tmp_path / "odd.csv"
    table.write_text("\n".join(ODD[name](np.random.default_rng(0))) + "\n")
    code, out, err = aegis("risk", table, "--against", table, "--label", "c", "--holdout", holdout)
    assert (code, err) == (1, "") or (name in {"constant", "nothing at all"} and "lower --holdout" in err)
    assert out.startswith(("FAIL: ", "NOT JUDGED: ")) or "lower --holdout" in err


@pytest.fixture
def born():
    rng = np.random.default_rng(1)
    days = rng.integers(-10_000, 10_000, 80).astype("datetime64[D]").astype(str)
    return pa.table({"birth": days, "town": rng.choice(["a b", "Graz"], 80), "sick": rng.choice(["yes", "no"], 80)})


def test_a_copy_in_another_spelling_is_found_out_as_the_same_copy_is(aegis, born, tmp_path):
    """In Parquet with moments for days, and in CSV with all that a spreadsheet may change."""
    csv.write_csv(born, tmp_path / "table.csv")
    days, towns = (born[name].to_pylist() for name in ("birth", "town"))
    parquet.write_table(
        born.set_column(0, "birth", born["birth"].cast(pa.date32()).cast(pa.timestamp("ns"))), tmp_path / "copy.parquet"
    )
    spelt = [[".".join(reversed(day.split("-"))) for day in days], [f"{town.upper()} " for town in towns], born["sick"]]
    csv.write_csv(pa.table(spelt, ["Birth", "TOWN", "sick"]), tmp_path / "copy.csv")
    told = ("--against", tmp_path / "table.csv", "--label", "sick", "--holdout", 0, "--json")
    runs = [aegis("risk", tmp_path / name, *told) for name in ("table.csv", "copy.parquet", "copy.csv")]
    documents = [json.loads(out) for _, out, _ in runs]
    assert [code for code, *_ in runs] == [1, 1, 1]
    assert documents[0]["headline"].startswith("FAIL: The strongest attack works: exact copies")
    assert documents[0] == documents[1] == documents[2]


def test_what_is_not_understood_is_no_pass_in_any_form(aegis, born, tmp_path):
    release = born.set_column(0, "birth", [[f"day {text.replace('1', 'I')}" for text in born["birth"].to_pylist()]])
    csv.write_csv(born, tmp_path / "table.csv")
    csv.write_csv(release.append_column("note", [["x"] * 80]), tmp_path / "release.csv")
    told = (tmp_path / "release.csv", "--against", tmp_path / "table.csv", "--label", "sick", "--holdout", 0)
    page = tmp_path / "page.html"
    code, out, _ = aegis("risk", *told, "--html", page)
    first = out.splitlines()[0]
    assert code == 1
    assert first.startswith("NOT JUDGED: 100 % of the cells in birth (such as aaa a999-99-a9 or ")
    assert "state what masked values stand for (--plan, --configuration)" in first
    assert "no column note" in first
    assert not any(text in out for text in release["birth"].to_pylist())
    assert first.split(" (such")[0] in page.read_text()
    document = json.loads(aegis("risk", *told, "--json")[1])
    assert document["headline"] == first
    assert (document["not_judged"], document["not_read"]) == (["birth"], ["note"])
    assert "pass" not in {document["result"], *document["results"].values()}


def test_attacks_that_did_not_run_are_no_pass(aegis, people):
    told = ("--label", "sick", "--seconds", 0, "--json")
    code, out, _ = aegis("risk", people, "--against", people, *told)
    document = json.loads(out)
    assert code == 1
    assert document["headline"] == "NOT JUDGED: no attack was tried, so nothing is known about the release."
    assert set(document["results"].values()) == {"not judged"}
