"""Columns that are not written plainly: numbers, dates, odd texts among them, and values in several cases."""

import datetime as dt
from decimal import Decimal

import psycopg
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider import PlanError, TableError, apply, load_plan
from aegis_provider.draft import start
from aegis_provider.draft.attributes import columns_of
from aegis_provider.table import open_table
from aegis_provider.table.notation import FORMS, AmbiguousWritingError, Dates, Numbers, Plain, Writing, recognised
from aegis_provider.table.values import MISSING
from aegis_provider.workflow import release
from tests.for_each import for_each
from tests.postgres import create_database, drop_database
from tests.provider.documents import summarize

ODD = "90+|>89|45 y| 45|45,5|1,045|inf|045|*|refused|NA|?|-|.|nan|unknown|NULL| |4512O|45 EUR|45%|$45|1E1|40-50|4.5.6|#"
AGES = [str(18 + place % 70) for place in range(400)]
DAYS = [str(dt.date(1990, 1, 1) + dt.timedelta(place)) for place in range(400)]


def counts(*texts):
    return {text: texts.count(text) for text in texts}


def plan_of(path, text):
    path.write_text(text)
    return load_plan(path)


@for_each("odd", ODD.split("|"))
def test_one_odd_text_among_numbers_is_seen_whatever_it_is(odd):
    seen = recognised(counts(*AGES, odd))
    assert (seen.form, seen.odd) == (Plain("numbers"), {odd: 1})
    assert f"{odd!r} (1 of 401 records)" in seen.in_words


def test_every_odd_text_becomes_missing():
    odd = ODD.split("|")
    assert len(odd) == 26
    with open_table(pa.table({"t": [*odd, "7", "-2.50", "1e-05"]})) as opened:
        read = opened.engine.fetch(opened.source.select(k=Plain("numbers").key(opened.source["c0"])))
    assert read["k"].to_pylist() == [*[None] * 26, "7", "-2.50", "1e-05"]


@for_each("odd", ["31.12.1999", "unknown", "1999-02-30", "1999-12", "1999-12-31 10:00", "1999-1-1", " "])
def test_one_odd_text_among_dates_is_seen(odd):
    assert recognised(counts(*DAYS, odd)).odd == {odd: 1}


def test_odd_texts_are_refused_until_somebody_says_that_they_are_missing(tmp_path):
    texts, lines = [*AGES[2:], "90+", " "], [f"{n % 3}" for n in range(400)]
    table, emptied = (tmp_path / name for name in ("t.csv", "emptied.csv"))
    for path, ages in ((table, texts), (emptied, [*AGES[2:], "", ""])):
        path.write_text(
            "age,sex,y\n"
            + "".join(f"{a},{s},{'ab'[n // 9 % 2]}\n" for n, (a, s) in enumerate(zip(ages, lines, strict=True)))
        )
    plan = tmp_path / "plan.yaml"
    said = r"t.csv: line 400: 'age' has numbers, except '90\+' \(1 of 399 records\).*--odd-as-missing.*--add age"
    with pytest.raises(TableError, match=said):
        start(table, "y", plan)
    [age, _] = start(table, "y", plan, odd_as_missing=True).attributes
    assert (age.column.type, age.column.missing) == ("integer", 2)
    assert age.remarks == [
        "'90+' is read as missing (1 of 399 records)",
        "spaces alone are read as missing (1 of 400 records)",
    ]
    assert "odd_as_missing: true" in plan.read_text()
    plan.write_text(plan.read_text() + "configurations: {c1: {}}\n")
    entry = summarize(table, load_plan(plan), name="t")
    assert entry == summarize(emptied, load_plan(plan), name="t")
    apply(table, load_plan(plan), "c1", tmp_path / "masked.csv", keep_order=True)
    assert (tmp_path / "masked.csv").read_text().splitlines()[-2:] == [",2,a", ",0,a"]
    as_text = start(table, "y", tmp_path / "texts.yaml", add=["age"])
    assert as_text.attributes[0].column.type == "string"


def test_spaces_alone_are_missing_in_every_column_of_texts(tmp_path):
    """11 blanks among 7,043 amounts stopped the release of a telephone company's table."""
    ages, sexes, labels = [*AGES[3:], " ", "", "  "], ["f", "m", " ", ""] * 100, ["ab"[n // 9 % 2] for n in range(399)]
    table = pa.table({"age": ages, "sex": sexes, "y": [*labels, "   "]})
    started = start(table, "y", tmp_path / "plan.yaml")
    seen = {each.column.name: (each.column.type, each.column.missing, each.remarks) for each in started.attributes}
    said = "spaces alone are read as missing ({} of 400 records)".format
    assert seen == {"age": ("integer", 3, [said(2)]), "sex": ("string", 200, [said(100)])}
    assert started.labels == {"a": 201, "b": 198, "": 1}
    plan = plan_of(tmp_path / "p.yaml", "label: y\nattributes: {age: {}, sex: {}}\nconfigurations: {c1: {}}\n")
    trimmed = pa.table({name: [each.strip() for each in table[name].to_pylist()] for name in table.column_names})
    assert summarize(table, plan, name="t") == summarize(trimmed, plan, name="t")
    apply(table, plan, "c1", tmp_path / "masked.csv", keep_order=True)
    assert (tmp_path / "masked.csv").read_text().splitlines()[-2:] == [",,a", ",,"]


def test_more_odd_texts_are_not_taken_for_missing(tmp_path):
    rows = [f"{'x' if n % 50 == 7 else age},{'ab'[n % 2]}" for n, age in enumerate(AGES)]
    (tmp_path / "t.csv").write_text("\n".join(["age,y", *rows]) + "\n")
    plan = "label: y\nattributes: {age: {type: integer, odd_as_missing: true}}\nconfigurations: {c1: {}}\n"
    with pytest.raises(
        TableError, match=r"8 of its 400 values are not numbers, more than one in a hundred.*type: string"
    ):
        summarize(tmp_path / "t.csv", plan_of(tmp_path / "plan.yaml", plan), name="t")
    with pytest.raises(
        PlanError, match=r"no column can be shared: 'age' numbers, except 'x'.*more than one in a hundred"
    ):
        start(tmp_path / "t.csv", "y", tmp_path / "draft.yaml", odd_as_missing=True)


def test_a_plan_that_is_silent_on_odd_texts_is_told_what_to_say(tmp_path):
    table = pa.table({"age": [*AGES[1:], "90+"], "y": ["a", "b"] * 200})
    silent, declared = (
        plan_of(tmp_path / "plan.yaml", f"label: y\nattributes: {{age: {{{of}}}}}\nconfigurations: {{c1: {{}}}}\n")
        for of in ("", "type: string")
    )
    with pytest.raises(
        TableError, match=r"row 400: age: numbers, except '90\+' .*`odd_as_missing: true`.*`type: string`"
    ):
        summarize(table, silent, name="t")
    assert summarize(table, declared, name="t")["attributes"][0]["type"] == "string"


@for_each(
    ("texts", "field"),
    [
        (["1,045", "2,300", "7"], 'decimal: "."'),
        (["01.02.1999", "12.11.2000"], "dates: dmy"),
        (["1/2/1999"], "dates: dmy"),
        ([*["1,045"] * 200, "3,5"], 'decimal: "."'),
    ],
)
def test_what_may_be_read_in_two_ways_is_refused(texts, field):
    with pytest.raises(AmbiguousWritingError, match=field):
        recognised(counts(*texts))


def test_a_file_that_states_how_columns_are_read_becomes_a_plan(tmp_path):
    days = [f"{1 + n % 12:02}/{1 + n % 11:02}/20{10 + n % 9}" for n in range(240)]
    table = pa.table({"visit": days, "sex": ["m", "f", "f"] * 80, "y": ["a", "b"] * 120})
    with pytest.raises(
        TableError, match=r"row 2: visit: '02/02/2011|row \d+: visit: .*dates: dmy.*dates: mdy.*aegis plan start"
    ):
        start(table, "y", tmp_path / "plan.yaml")
    (tmp_path / "plan.yaml").write_text("label: y\nattributes: {visit: {dates: mdy}}\n")
    start(table, "y", tmp_path / "plan.yaml")
    plan = load_plan(tmp_path / "plan.yaml", configurations_needed=False)
    assert [(each.name, each.value_type, each.writing.form) for each in plan.attributes] == [
        ("visit", "date", Dates("mdy")),
        ("sex", "string", None),
    ]
    drafted = (tmp_path / "plan.yaml").read_text()
    start(table, "y", tmp_path / "plan.yaml")
    assert (tmp_path / "plan.yaml").read_text() == drafted


@for_each(
    "texts",
    [
        ["02134", "12345", "98765"],
        ["1.2.3", "1.2.4", "10.0.1"],
        ["192.168.100.200", "192.168.100.101"],
        ["10.0.0.1", "192.168.1.2"],
        ["1,2,3", "2,3", "1"],
        ["110 001", "110 002"],
        ["555 123 456", "555 987 654"],
        ["+43 1 5880", "0664 123"],
        ["1E1", "10", "2E1"],
        ["1/2", "3/4"],
        ["2.5", *["north", "south"] * 2],
        ["31.12.99", "1.1.00"],
        ["1999-12-31 10:00", "1999-12-30 11:30"],
        ["0", "1", "2", "3+"],
        ["yes", "no"],
    ],
)
def test_codes_and_texts_stay_texts(texts):
    assert recognised(counts(*texts)) is None


MARKS = [(".", ","), (".", " "), (".", "'"), (".", ""), (",", "."), (",", "\u202f"), (",", "\u2019"), (",", "")]
DAYS_AS = "%d.%m.%Y|%d-%m-%Y|%m/%d/%Y|%Y/%m/%d|%d %b %Y|%B %d, %Y|%Y-%m-%d 00:00:00|%Y-%m-%dT00:00Z".split("|")  # noqa: SIM905


def in_marks(number, decimal, thousands):
    return f"{number:,.2f}".translate({ord(","): thousands, ord("."): decimal})


def assert_alike(path, columns):
    attributes = ", ".join(f'"{name}": {{}}' for name in columns)
    plan = plan_of(path, f"label: y\nattributes: {{{attributes}}}\nconfigurations: {{c1: {{}}}}\n")
    labels = ["ab"[n % 2] for n in range(len(next(iter(columns.values()))))]
    first, *others = summarize(pa.table({**columns, "y": labels}), plan, name="t")["attributes"]
    assert first["type"] in {"number", "integer", "date"}
    for each in others:
        assert {**each, "name": ""} == {**first, "name": ""}, each["name"]


def test_all_ways_to_write_numbers_and_dates_give_the_same_entry(tmp_path):
    numbers = [Decimal(n**5) / 100 for n in range(-12, 30)]
    written = {f"n{place}": [in_marks(each, *marks) for each in numbers] for place, marks in enumerate(MARKS)}
    assert_alike(tmp_path / "numbers.yaml", {"n": [f"{each:.2f}" for each in numbers], **written})
    days = [dt.date(1999, 1, 1) + dt.timedelta(37 * n) for n in range(30)]
    written = {form: [each.strftime(form) for each in days] for form in DAYS_AS}
    unpadded = {"d": [f"{each.day}.{each.month}.{each.year}" for each in days]}
    assert_alike(tmp_path / "days.yaml", {"plain": list(map(str, days)), **written, **unpadded})


@pytest.mark.long
@given(numbers=st.lists(st.decimals(-(10**8), 10**8, places=2), min_size=2, max_size=40), marks=st.sampled_from(MARKS))
def test_numbers_give_the_same_entry_however_they_are_written(tmp_path_factory, numbers, marks):
    path = tmp_path_factory.mktemp("numbers") / "plan.yaml"
    assert_alike(path, {"n": [f"{each:.2f}" for each in numbers], "m": [in_marks(each, *marks) for each in numbers]})


@pytest.mark.long
@given(days=st.lists(st.dates(dt.date(1000, 1, 1)), min_size=1, max_size=40), form=st.sampled_from(DAYS_AS))
def test_dates_give_the_same_entry_however_they_are_written(tmp_path_factory, days, form):
    days = [*days, dt.date(1999, 12, 31)]
    path = tmp_path_factory.mktemp("dates") / "plan.yaml"
    assert_alike(path, {"plain": list(map(str, days)), "written": [each.strftime(form) for each in days]})


TEXTS = st.text("0123456789.,'- /aejn:T+\u00a0", max_size=14)
LIKE_DATES = st.builds(
    "{}{}{}{}{}{}".format,
    *[st.integers(0, 35), st.sampled_from("./- ")] * 2,
    st.integers(0, 2100),
    st.sampled_from(["", " 00:00"]),
)


@pytest.mark.long
@given(texts=st.lists(TEXTS | LIKE_DATES, min_size=1, max_size=60))
def test_an_engine_reads_what_python_reads(texts):
    with open_table(pa.table({"t": texts})) as opened:
        value = opened.source["c0"].nullif(MISSING)
        read = opened.engine.fetch(opened.source.select(**{f"k{n}": form.key(value) for n, form in enumerate(FORMS)}))
    for n, form in enumerate(FORMS):
        assert read[f"k{n}"].to_pylist() == [form.plain(text) if text else None for text in texts], form


def test_postgresql_reads_the_same(postgres):
    texts = ["1.045,20", "3,5", " 7", "31.12.1999", "1 März 2000", "29.02.2001", "x", "-1'000,5"]
    url = create_database(postgres.url, "writing")
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE t (n integer, t text)")
        connection.cursor().executemany("INSERT INTO t VALUES (%s, %s)", list(enumerate(texts)))
    with open_table(f"{url}#t") as opened:
        ordered = opened.source.order_by("c0")
        read = opened.engine.fetch(ordered.select(**{f"k{n}": form.key(ordered["c1"]) for n, form in enumerate(FORMS)}))
    drop_database(postgres.url, "writing")
    expected = [[form.plain(text) for text in texts] for form in FORMS]
    assert [read[f"k{n}"].to_pylist() for n in range(len(FORMS))] == expected


def test_a_label_in_several_cases_is_refused_until_they_are_one(tmp_path):
    labels, cities = ["nein", "Nein ", "NEIN", "ja"] * 30, ["Wien", "wien", "Graz"] * 40
    table = pa.table({"city": cities, "y": labels})
    with pytest.raises(TableError, match=r"label 'y' is written 'NEIN', 'Nein ', 'nein'; --fold-case"):
        start(table, "y", tmp_path / "plan.yaml")
    started = start(table, "y", tmp_path / "plan.yaml", fold_case=True)
    assert started.labels == {"nein": 90, "ja": 30}
    plan = load_plan(tmp_path / "plan.yaml", configurations_needed=False)
    assert (plan.fold_case, plan.attributes[0].writing.fold_case) == (True, True)
    (tmp_path / "plan.yaml").write_text((tmp_path / "plan.yaml").read_text() + "configurations: {c1: {}}\n")
    entry = summarize(table, load_plan(tmp_path / "plan.yaml"), name="t")
    assert entry["label"]["domain"] == ["ja", "nein"]
    assert entry["attributes"][0]["domain"] == ["graz", "wien"]


@pytest.mark.long
def test_a_release_says_in_its_plan_how_it_read_the_table(tmp_path):
    ages = [*AGES[1:], "90+"]
    table = pa.table(
        {"age": ages, "y": ["yes" if int(age[:2]) > 50 else ["no", "No"][n % 2] for n, age in enumerate(ages)]}
    )
    with pytest.raises(TableError, match="--fold-case"):
        release(table, "y", output=tmp_path / "r", seconds=1)
    with pytest.raises(TableError, match="--odd-as-missing"):
        release(table, "y", output=tmp_path / "r", seconds=1, fold_case=True)
    released = release(table, "y", output=tmp_path / "r", seconds=1, fold_case=True, odd_as_missing=True)
    assert released.card.passed
    plan = load_plan(tmp_path / "r" / "configurations.yaml")
    assert (plan.fold_case, plan.attributes[0].writing) == (True, Writing(Plain("numbers"), odd_as_missing=True))
    assert "90+" not in (tmp_path / "r" / "masked.csv").read_text() + (tmp_path / "r" / "entry.json").read_text()


def test_an_attribute_in_several_cases_is_pointed_out(tmp_path):
    started = start(pa.table({"city": ["Wien", "wien"] * 40, "y": ["a", "b"] * 40}), "y", tmp_path / "plan.yaml")
    assert started.attributes[0].column.remarks == ["'Wien', 'wien' may be one value: --fold-case"]


@for_each(
    ("attribute", "said"),
    [
        ("odd_as_missing: true", "add `type: integer`, number or date"),
        ("type: date, decimal: ','", "cannot be of type date and be written as numbers"),
        ("type: string, dates: dmy", "cannot be of type string and be written as dates"),
        ("dates: dmy, decimal: ','", "cannot be of type number and date"),
        ("dates: dym", "expected ymd or dmy or mdy"),
        ("type: number, fold_case: true", "only texts have a case"),
    ],
)
def test_a_plan_that_contradicts_itself_is_refused(tmp_path, attribute, said):
    with pytest.raises(PlanError, match=said):
        plan_of(tmp_path / "plan.yaml", f"label: y\nattributes: {{a: {{{attribute}}}}}\nconfigurations: {{c1: {{}}}}\n")


def test_what_is_masked_is_written_plainly(tmp_path):
    table = pa.table(
        {"n": ["1.045,20", "3,5", "3,50"] * 4, "d": ["31.12.1999", "1.2.2000", ""] * 4, "y": ["a", "b"] * 6}
    )
    plan = (
        "label: y\nattributes: {n: {discretize: {rule: edges, edges: [0, 5, 2000]}}, d: {}}\nconfigurations: {c1: {}}\n"
    )
    apply(table, plan_of(tmp_path / "plan.yaml", plan), "c1", tmp_path / "m.csv", keep_order=True)
    lines = (tmp_path / "m.csv").read_text().splitlines()
    assert lines[1:4] == ['"[5,2000)",1999-12-31,a', '"[0,5)",2000-02-01,b', '"[0,5)",,a']


def test_thousands_of_different_numbers_are_looked_at_whole():
    numbers = [f"{Decimal(n) / 7:.2f}".replace(".", ",") for n in range(6_000)]
    table = pa.table({"n": [*numbers[1:], "x"], "y": ["a", "b"] * 3_000})
    with open_table(table) as opened:
        _, (_, column) = columns_of(opened, "y", ["n"])
    assert (column.type, column.recognised.odd, column.recognised.form) == ("number", {"x": 1}, Numbers(","))


def test_thousands_that_a_plain_reading_calls_odd_are_ambiguous():
    counts = {f"{1 + place}.250": 1 for place in range(400)} | {"1.250.000": 1}
    with pytest.raises(AmbiguousWritingError):
        recognised(counts)


@for_each("text", ["2020-01-01 00:00:00+01:00", "2020-01-01T00:00:00-05:00", "2020-01-01 00:00:00Z"])
def test_a_midnight_of_any_zone_is_its_day(text):
    assert Dates("ymd").plain(text) == "2020-01-01"


def test_a_line_end_after_a_number_is_no_part_of_one():
    assert (Numbers(",").plain("3,5\n"), Dates("ymd").plain("2020-01-01\n")) == (None, None)
