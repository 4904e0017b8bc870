"""Formulas that a spreadsheet would run in CSV give a warning, or are escaped so that every reader finds the values."""

import csv
import random
from collections import Counter

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aegis_provider import apply, load_plan
from aegis_provider.errors import OutputError
from aegis_provider.receiving.verification import verify
from aegis_provider.synth.generate.generated import write as write_generated
from aegis_provider.synth.released.opening import open_release
from aegis_provider.table import open_table
from aegis_provider.table.formulas import are_escaped, formulas_in
from aegis_provider.workflow import release
from aegis_sdk.texts import escaped, is_formula, unescaped
from tests.for_each import for_each
from tests.provider.receiving.delivering import Provider, delivery_of

MARKS = ("=", "+", "-", "@", "\t", "\r")
HEADER = ["=cmd|' /C calc'!A0", "note", "@age", "y"]
PLAN = """
label: y
attributes:
  "=cmd|' /C calc'!A0": {}
  note: {}
  "@age": {type: integer}
configurations: {c: {}}
privacy: {c: {k: 1}}
"""
NOTES = ["=1+1", "'=1+1", "@SUM(1)", "-5", "+3", "plain", "-2+3", "\tx", ""]


def rows():
    draw = random.Random(2)
    return [
        [draw.choice(["-1", "+49 170", "ok"]), draw.choice(NOTES), draw.choice(["-7", "8"]), draw.choice(["=y", "no"])]
        for _ in range(400)
    ]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([HEADER, *rows()])
    return path


@pytest.fixture
def plan(write):
    return load_plan(write("plan.yaml", PLAN))


def read(path):
    with path.open(encoding="utf-8", newline="") as file:
        header, *records = csv.reader(file)
    return header, records


def run(texts):
    """Return what a spreadsheet runs: whatever has a mark that Python does not read as a number."""

    def is_number(text):
        try:
            return float(text) is not None
        except ValueError:
            return False

    return [text for text in texts if text.startswith(MARKS) and not is_number(text)]


@for_each(
    ("text", "formula"),
    [
        ("=1+1", True),
        ("@SUM(1)", True),
        ("+cmd", True),
        ("-2+3", True),
        ("\t=1", True),
        ("\rx", True),
        ("+49 170", True),
        ("-5", False),
        ("+3", False),
        ("-1.5e-3", False),
        ("-1.234,5", False),
        ("-", True),
        ("", False),
        ("a=1", False),
        ("'=1", False),
        ("[-5,3)", False),
        ("-10--6", True),
    ],
)
def test_formulas_begin_with_a_mark_and_are_no_numbers(text, formula):
    assert is_formula(text) is formula
    assert (escaped(text) != text) is (formula or text == "'=1")


@given(st.text(alphabet="'=+-@\t\r5.,e x", max_size=8), st.text(alphabet="'=+-@\t\r5.,e x", max_size=8))
@example("=1", "'=1")
def test_escaping_runs_nothing_and_is_one_to_one(first, second):
    assert unescaped(escaped(first)) == first
    assert not is_formula(escaped(first))
    assert (escaped(first) == escaped(second)) == (first == second)


@for_each(
    ("texts", "known", "expected"),
    [
        (["'=1", "a"], ["=1", "a"], True),
        (["'=1", "a"], ["'=1", "a"], False),  # the table has the apostrophe
        (["'=1", "''=1"], ["=1", "'=1"], True),
        (["'=1", "=1"], ["=1", "'=1"], False),
        (["'=1"], ["a or others"], True),
        (["a", "'b"], ["a", "b"], False),
    ],
)
def test_a_column_is_escaped_if_that_makes_it_known(texts, known, expected):
    assert are_escaped(texts, known) is expected


def test_apply_tells_how_many_cells_of_which_columns_are_formulas(table, plan, tmp_path):
    applied = apply(table, plan, "c", tmp_path / "m.csv")
    header, records = read(tmp_path / "m.csv")
    cells = {name: len(run(texts)) for name, texts in zip(header, zip(*records, strict=True), strict=True)}
    total = sum(cells.values())
    listed = ", ".join(f"{n} in {name}" for name, n in cells.items() if n)
    [said] = applied.warnings
    assert said.startswith(f"a spreadsheet would run {total} cells ({listed}) and 2 headers ({HEADER[0]}, @age) as")
    assert said.endswith("; --escape-formulas writes ' before each")
    with open_table(tmp_path / "m.csv") as opened:
        assert formulas_in(opened).cells == {name: n for name, n in cells.items() if n}


def test_what_is_escaped_runs_nothing_and_is_the_same_table(table, plan, tmp_path):
    promised = apply(table, plan, "c", tmp_path / "m.csv", keep_order=True)
    applied = apply(table, plan, "c", tmp_path / "e.csv", keep_order=True, escape_formulas=True)
    assert (applied.warnings, applied.reached) == ((), promised.reached)
    header, records = read(tmp_path / "e.csv")
    assert not run([*header, *(text for record in records for text in record)])
    plain_header, plain = read(tmp_path / "m.csv")
    assert [unescaped(text) for text in header] == plain_header == HEADER
    assert [[unescaped(text) for text in record] for record in records] == plain


def test_names_and_values_that_differ_in_an_apostrophe_stay_apart(write, tmp_path):
    table = write("t.csv", "=a,'=a,y\n=1,'=1,p\n'=1,=1,q\n")
    plan = load_plan(write("plan.yaml", 'label: y\nattributes: {"=a": {}, "\'=a": {}}\nconfigurations: {c: {}}\n'))
    provider = Provider(tmp_path, table, plan, exact=True)
    apply(table, plan, "c", tmp_path / "e.csv", escape_formulas=True, keep_order=True)
    assert read(tmp_path / "e.csv") == (["'=a", "''=a", "y"], [["'=1", "''=1", "p"], ["''=1", "'=1", "q"]])
    assert verify(tmp_path / "e.csv", delivery_of(tmp_path / "e.csv", "c", 2), provider.evidence("c")).is_as_agreed


def test_parquet_has_no_formulas(table, plan, tmp_path):
    assert apply(table, plan, "c", tmp_path / "m.parquet").warnings == ()
    assert set(pl.read_parquet(tmp_path / "m.parquet")["note"]) >= {"=1+1", "'=1+1"}
    with pytest.raises(OutputError, match="only CSV has formulas to escape; omit --escape-formulas for Parquet"):
        apply(table, plan, "c", tmp_path / "e.parquet", escape_formulas=True)
    assert not (tmp_path / "e.parquet").exists()


def test_a_delivery_verifies_whether_it_is_escaped_or_not_and_a_changed_one_does_not(table, plan, tmp_path):
    provider = Provider(tmp_path, table, plan, exact=True)
    plain = provider.verified("c")
    assert plain.is_as_agreed
    assert plain.formulas.headers == (HEADER[0], "@age")
    assert set(plain.formulas.cells) == {HEADER[0], "note", "y"}
    applied = apply(table, provider.plan, "c", tmp_path / "e.csv", escape_formulas=True)
    request = delivery_of(tmp_path / "e.csv", "c", applied.records, dict(applied.reached))
    verified = verify(tmp_path / "e.csv", request, provider.evidence("c"))
    assert (verified.is_as_agreed, verified.compared) == (True, plain.compared)
    assert (verified.privacy.undecided, verified.formulas.in_words()) == (plain.privacy.undecided, "")
    header, records = read(tmp_path / "e.csv")
    next(record for record in records if record[3] == "'=y")[3] = "'=z"
    with (tmp_path / "e.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *records])
    changed = verify(tmp_path / "e.csv", request, provider.evidence("c"))
    assert [each.text for each in changed.compared.unknown] == ["=z"]


def test_attacks_find_the_values_of_an_escaped_release(table, plan, tmp_path):
    apply(table, plan, "c", tmp_path / "e.csv", escape_formulas=True)
    opened = open_release(tmp_path / "e.csv", table, plan=plan, configuration="c")
    assert (opened.lacking, opened.released.not_understood) == ((), {})
    assert set(opened.released.column("note").texts) == set(NOTES)


def test_generated_records_are_escaped_as_masked_ones_are(tmp_path):
    records = pa.table(dict(zip(HEADER, zip(*rows(), strict=True), strict=True)))
    [said] = write_generated(tmp_path / "g.csv", records, ",")
    assert said.startswith("a spreadsheet would run ")
    assert write_generated(tmp_path / "g.csv", records, ",", escape_formulas=True) == ()
    header, written = read(tmp_path / "g.csv")
    assert not run([*header, *(text for record in written for text in record)])
    assert [[unescaped(text) for text in record] for record in written] == [list(row) for row in rows()]


@pytest.mark.long
def test_a_release_whose_formulas_are_escaped_is_judged_as_the_same_table(write, tmp_path):
    rng = random.Random(3)
    rows = [f"{rng.choice(['=1+1', '@x', 'b'])},{rng.randint(1, 4)},{rng.choice(['-y', 'n'])}" for _ in range(300)]
    table = write("t.csv", "\n".join(["kind,=size,ill", *rows]) + "\n")
    released = release(table, "ill", output=tmp_path / "r", require={"k": 5}, seconds=3600, escape_formulas=True)
    assert released.findings.masked.applied.warnings == ()
    header, records = read(tmp_path / "r" / "masked.csv")
    assert "=" in "".join(header)
    assert not run([*header, *(text for record in records for text in record)])
    before, after = Counter(row.split(",")[2] for row in rows), Counter(unescaped(record[-1]) for record in records)
    assert dict(released.findings.masked.labels) == {label: (before[label], after[label]) for label in sorted(before)}
    assert released.card.passed, released.card.together_verdict
