"""Identifiers in tables: in one of many cells, repeated, asked for by name, and in what is written."""

import csv
import random

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aegis_provider import apply, load_plan, open_table, prepare_entry
from aegis_provider.draft import start
from aegis_provider.errors import IdentifierError
from aegis_provider.identifiers import Replayed, identifying, refuse_written, values_of
from aegis_provider.identifiers.values import header_of
from aegis_provider.workflow import release
from tests.for_each import for_each

FIRST = ["Anna", "Ben", "Clara", "David", "Eva", "Franz", "Greta", "Hans"]
LAST = ["Huber", "Gruber", "Wagner", "Pichler", "Moser", "Steiner", "Berger"]


def visits(people=120, seed=5):
    """Several visits of each person: numbers that repeat, a note in which few have an address, and attributes."""
    rng = random.Random(seed)
    rows = []
    for place in range(people):
        name = f"{rng.choice(FIRST)} {rng.choice(LAST)}"
        born = f"19{rng.randint(40, 99)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
        number = f"{rng.randint(1000, 9999)}{born[8:]}{born[5:7]}{born[2:4]}"
        person = {"patient": f"P{place:04}", "svnr": number, "dob": born, "seen": f"Dr. {rng.choice(LAST)}"}
        for _ in range(rng.randint(3, 7)):
            note = rng.choice(["ok", "follow up", f"see {name}", f"call u{place}@mail.example"])
            rows.append({**person, "note": note, "plz": rng.choice(["1010", "4020"]), "ill": rng.choice(["yes", "no"])})
    return rows


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path, rows = tmp_path_factory.mktemp("visits") / "visits.csv", visits()
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def reasons(table):
    with open_table(table) as opened:
        return identifying(opened, values_of(opened, list(opened.columns)))


def test_a_draft_leaves_out_numbers_that_repeat_dates_of_birth_and_notes(table, tmp_path):
    started = start(table, "ill", tmp_path / "plan.yaml")
    assert dict(started.left_out) == {
        "patient": "contains numbered codes that few records share",
        "svnr": "contains numbers with dates in them, as national identity numbers have",
        "dob": "contains dates of birth",
        "seen": "contains names of persons",
        "note": "contains e-mail addresses in some records",
    }
    assert [each.column.name for each in started.attributes] == ["plz"]


@for_each("text", ["a@b.example", "see Anna Huber", "+43 664 1234567", "http://a.example/x", "AT611904300234573201"])
def test_one_cell_of_many_is_enough(text, tmp_path):
    colours = [f"shade {place} of blue" for place in range(6_000)]
    found = tmp_path / "t.parquet"
    pq.write_table(pa.table({"colour": [*colours[:3_000], text, *colours[3_000:]] * 5}), found)
    assert "in some records" in reasons(found)["colour"]


def test_values_that_stand_for_the_same_people_are_found_without_a_telling_form(tmp_path):
    duckdb.sql(
        "SELECT 1 + i % 200 AS one, 10000 + (i % 200) * 7 AS other, i % 90 AS age, i % 7 AS shift "
        "FROM range(1_400) AS t(i)"
    ).write_csv(str(tmp_path / "t.csv"))
    assert set(reasons(tmp_path / "t.csv")) == {"one", "other"}


def customers(name, numbers, each, **known):
    """Some records of each customer: a number, what else is known of the customer, and two columns of records."""
    return pa.table(
        {
            name: [number for number in numbers for _ in range(each)],
            **{other: [text for text in texts for _ in range(each)] for other, texts in known.items()},
            "x": [place * 37 % 90 for place in range(len(numbers) * each)],
            "y": [place % 7 for place in range(len(numbers) * each)],
        }
    )


@for_each(
    "numbers",
    [
        range(4711, 4891, 3),
        range(4711, 5131, 7),
        range(9000, 9180, 3),
        range(1, 61),
        [f"{4711 + 3 * n}.0" for n in range(60)],
    ],
)
def test_values_that_stand_for_the_people_of_an_identifier_are_left_out_whatever_the_digits(numbers):
    phones = [f"0664 {1234567 + 7919 * place}" for place in range(len(numbers))]
    assert set(reasons(customers("z", numbers, 40, phone=phones))) == {"z", "phone"}


def test_what_stands_for_the_people_of_a_column_left_out_is_refused_later_too(tmp_path):
    phones = [f"0664 {1234567 + 7919 * place}" for place in range(60)]
    table, plan = customers("z", range(4711, 4891, 3), 40, phone=phones), tmp_path / "plan.yaml"
    assert set(start(table, "y", plan).left_out) == {"z", "phone"}
    with pytest.raises(IdentifierError, match="'z': has about one value for each value of another identifier"):
        start(table, "y", plan, add=["z"])
    start(table, "y", plan, add=["z"], accept_identifiers=True)
    with pytest.raises(
        IdentifierError, match=r"'z' as it is: has about one .*; set identity: false for it in plan\.yaml"
    ):
        release(table, "y", plan=plan, output=tmp_path / "release")


def test_words_that_stand_for_the_people_of_an_identifier_are_left_out_but_measures_are_not():
    adjectives, animals = ["red", "blue", "shy", "bold", "old", "tiny"], ["fox", "owl", "cat", "hen", "elk", "bee"]
    known = {
        "phone": [f"0664 {1234567 + 7919 * place}" for place in range(36)],
        "alias": [f"{one} {other}" for one in adjectives for other in animals],
        "income": [20_000 + 1_013 * place for place in range(36)],
    }
    assert set(reasons(customers("z", [place % 12 for place in range(36)], 120, **known))) == {"phone", "alias"}


def test_many_numbers_of_customers_are_enough_by_their_name():
    assert set(reasons(customers("Kundennummer", range(4711, 4891, 3), 40))) == {"Kundennummer"}
    assert reasons(customers("Kundennummer", range(4711, 4741, 3), 40)) == {}
    assert reasons(customers("customers", range(4711, 4891, 3), 40)) == {}


@for_each("name", ["Kd", "KdNr", "Kd.-Nr.", "Kundennr", "MitgliedNr", "Kunde", "customer", "patient_id", "nº de socio"])
def test_headers_name_numbers_of_people(name):
    assert header_of(name).is_number_of_people


@for_each("name", ["customers", "customer_age", "Kundengruppe", "member_since", "patient_weight", "number_of_patients"])
def test_headers_name_what_is_no_number_of_people(name):
    assert not header_of(name).is_number_of_people


PLAN = """
label: ill
attributes:
  plz:
    maskings: {plz-3: {blur: {keep: 1}}}
  note:
    maskings:
      grouped: {hierarchy: {file: groups.csv, level: 1, delimiter: ","}}
      safe: {blur: {keep: 1}}
configurations:
  raw: {plz: identity, note: identity}
  named: {plz: plz-3, note: grouped}
  safe: {plz: plz-3, note: drop}
left_out: {patient: contains codes, seen: contains names of persons}
"""


@pytest.fixture
def plan(tmp_path):
    notes = sorted({row["note"] for row in visits()})
    with (tmp_path / "groups.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows((note, "see P0007" if note == "ok" else "x") for note in notes)
    (tmp_path / "plan.yaml").write_text(PLAN, encoding="utf-8")
    return load_plan(tmp_path / "plan.yaml")


def test_what_identifies_is_shared_only_if_that_is_accepted(table, plan, tmp_path):
    output = tmp_path / "masked.csv"
    with pytest.raises(
        IdentifierError, match=r"shares 'note' as it is: contains e-mail addresses .*--accept-identifiers"
    ):
        apply(table, plan, "raw", output)
    assert not output.exists()
    with pytest.raises(IdentifierError, match="shares 'note' as it is"):
        prepare_entry(table, plan, name="visits")
    assert apply(table, plan, "raw", output, accept_identifiers=True).records == len(visits())
    with pytest.raises(IdentifierError, match="shares 'note' as it is"):
        apply(table, plan, "raw", output)
    assert not output.exists()  # it would look like what was refused


def test_a_release_by_a_plan_that_shares_what_identifies_is_refused_before_it_begins(table, tmp_path):
    (tmp_path / "wide.yaml").write_text("label: ill\nattributes: {plz: {}, dob: {}}\n", encoding="utf-8")
    with pytest.raises(
        IdentifierError,
        match=r"shares 'dob' as it is: contains dates of birth; set identity: false for it in wide\.yaml, or remove it",
    ):
        release(table, "ill", plan=tmp_path / "wide.yaml", output=tmp_path / "release")
    (tmp_path / "label.yaml").write_text("label: seen\nattributes: {plz: {}}\n", encoding="utf-8")
    with pytest.raises(IdentifierError, match="'seen' as it is: contains names of persons; choose another label"):
        release(table, "seen", plan=tmp_path / "label.yaml", output=tmp_path / "release")
    assert not (tmp_path / "release").exists()


def test_the_label_and_columns_to_add_are_searched_too(table, tmp_path):
    with pytest.raises(IdentifierError, match="'seen': contains names of persons"):
        start(table, "seen", tmp_path / "plan.yaml")
    with pytest.raises(IdentifierError, match="'dob': contains dates of birth"):
        start(table, "ill", tmp_path / "plan.yaml", add=["dob"])
    assert not (tmp_path / "plan.yaml").exists()
    added = start(table, "ill", tmp_path / "plan.yaml", add=["dob"], accept_identifiers=True)
    assert {each.column.name for each in added.attributes} == {"plz", "dob"}


def test_a_masked_value_that_tells_a_value_left_out_is_not_written(table, plan, tmp_path):
    output = tmp_path / "masked.csv"
    with pytest.raises(IdentifierError, match="'note' would show other identifiers of the table"):
        apply(table, plan, "named", output)
    assert not output.exists()


@for_each("file", ["masked.csv", "masked.parquet"])
def test_what_was_looked_for_is_said(table, plan, tmp_path, file):
    said = apply(table, plan, "safe", tmp_path / file).checked.replayed
    addresses = len({row["note"] for row in visits() if "@" in row["note"]})
    assert said.startswith("what was written shows none of the table's ")
    assert f", {addresses} e-mail addresses and 120 other identifiers" in said


ADVISED = """
label: good
attributes:
  adviser:
    identity: false
    maskings:
      named:
        hierarchy:
          level: 1
          tree: {Gruber | Huber and 2 more: [Gruber, Huber, Novak, Mayr], east: [Moser, Steiner, Wagner, Pichler]}
      counted:
        hierarchy:
          level: 1
          tree: {west: [Gruber, Huber, Novak, Mayr], east: [Moser, Steiner, Wagner, Pichler]}
  years: {maskings: {tens: {bucketize: {edges: [-.inf, 30, 50, .inf]}}}}
configurations:
  named: {adviser: named, years: tens}
  counted: {adviser: counted, years: tens}
"""


@pytest.fixture
def advised(tmp_path):
    """Customers of advisers, whose groups are named after them in one of two configurations."""
    names = ["Gruber", "Huber", "Novak", "Mayr", "Moser", "Steiner", "Wagner", "Pichler"]
    adviser = [names[place * 7 % 8] for place in range(400)]
    good = ["yes" if place * 7 % 8 + place % 3 > 4 else "no" for place in range(400)]
    years = [18 + place * 11 % 60 for place in range(400)]
    duckdb.from_arrow(pa.table({"adviser": adviser, "years": years, "good": good})).write_csv(str(tmp_path / "t.csv"))
    (tmp_path / "plan.yaml").write_text(ADVISED, encoding="utf-8")
    return tmp_path / "t.csv", load_plan(tmp_path / "plan.yaml")


@for_each("file", ["masked.csv", "masked.parquet"])
def test_masked_values_that_list_names_of_their_own_column_are_refused_or_said(advised, tmp_path, file):
    (table, plan), output = advised, tmp_path / file
    with pytest.raises(IdentifierError, match="'adviser' would show names of persons of the table; give its masked"):
        apply(table, plan, "named", output)
    assert not output.exists()
    accepted = apply(table, plan, "named", output, accept_identifiers=True)
    assert accepted.checked.accepted == {"adviser": "names of persons"}
    assert accepted.checked.replayed == "adviser has names of persons, shared because that was accepted"
    assert apply(table, plan, "counted", output).checked.accepted == {}


def test_an_entry_does_not_list_names_of_its_columns_unless_that_is_accepted(advised, aegis, tmp_path):
    table, plan = advised
    with pytest.raises(IdentifierError, match="the entry: 'adviser' would show names of persons of the table"):
        prepare_entry(table, plan, name="advised")
    options = ("--plan", tmp_path / "plan.yaml", "--name", "advised", "--output", tmp_path / "entry.json")
    code, out, _ = aegis("summarize", table, *options, "--accept-identifiers")
    assert (code, "adviser has names of persons, shared because that was accepted" in out) == (0, True)
    code, _, error = aegis("summarize", table, *options)
    assert (code != 0, "adviser" in error, (tmp_path / "entry.json").exists()) == (True, True, False)


@pytest.mark.long
def test_a_card_says_what_was_accepted_and_never_that_nothing_is_there(advised, tmp_path):
    (table, _), folder = advised, tmp_path / "release"
    groups = ADVISED[ADVISED.index("      counted:") : ADVISED.index("  years:")]
    plan = ADVISED.replace(groups, "").replace("  counted: {adviser: counted, years: tens}\n", "")
    (tmp_path / "plan.yaml").write_text(plan, encoding="utf-8")
    asked = {"plan": tmp_path / "plan.yaml", "output": folder, "require": {"k": 5}}
    assert release(table, "good", **asked, accept_identifiers=True).card.accepted == {"adviser": "names of persons"}
    said = "names of persons of the table: none is there, except that adviser has names of persons, shared because that"
    assert said in " ".join((folder / "card.md").read_text(encoding="utf-8").split())
    with pytest.raises(IdentifierError, match="'adviser' would show names of persons") as refused:
        release(table, "good", **asked)
    assert str(refused.value).startswith(f"{tmp_path / 'plan.yaml'}: ")
    assert {each.name for each in folder.iterdir()} == {"configurations.yaml", ".aegis-release.json"}


def test_where_only_some_cells_identify_their_share_and_the_first_one_are_said(tmp_path, aegis):
    notes = ["ok"] * 40 + ["ask a@b.example", None, "ok", "see a@c.example"] + ["late"] * 6
    table = pa.table({"note": notes, "ill": ["yes", "no"] * 25, "x": list(range(5)) * 10})
    pq.write_table(table, tmp_path / "t.parquet")
    said = (
        r"e-mail addresses in some records \(4 % of the records, first in record 41\): leave these cells empty to share"
    )
    with pytest.raises(IdentifierError, match=said):
        start(tmp_path / "t.parquet", "ill", tmp_path / "plan.yaml", add=["note"])
    error = aegis("plan", "start", tmp_path / "t.parquet", "--label", "note", "--output", tmp_path / "plan.yaml")[2]
    assert ("--accept-identifiers" in error, "accept_identifiers" in error, "first in record 41" in error) == (
        True,
        False,
        True,
    )


@pytest.mark.usefixtures("plan")
def test_the_command_says_what_is_wrong_in_one_line(aegis, table, tmp_path):
    output = tmp_path / "masked.csv"
    options = (table, "--plan", tmp_path / "plan.yaml", "--configuration", "raw", "--output", output)
    code, out, error = aegis("apply", *options)
    assert (code, out, error.count("aegis: ")) == (1, "", 1)
    assert "; mask it in the configuration raw, or remove it. --accept-identifiers shares it anyway" in error
    assert not output.exists()
    assert aegis("apply", *options, "--accept-identifiers")[0] == 0


def test_what_is_left_out_for_another_reason_may_stand_elsewhere(write):
    births = ["United States", "Mexico"] * 30
    rows = [f"United States,{born},North West,type 2 diabetes,4711-0815-{n}" for n, born in enumerate(births)]
    table = write("t.csv", "\n".join(["country,born,region,note,card", *rows]) + "\n")
    less = "tells less about 'y' than 60 others; --add NAME drafts it"
    left_out = {"country": "every record has the same value", "region": less}
    left_out |= {"note": "free text", "card": "contains random codes"}
    with open_table(table) as opened:
        replayed = Replayed.of(opened, opened.columns, left_out)
    refuse_written([("born", ["United States", "Mexico"]), ("coast", ["North West"])], replayed, "the entry")
    refuse_written([("diagnosis", ["type 2 diabetes"])], replayed, "the entry")
    with pytest.raises(IdentifierError, match="the entry: 'other' would show other identifiers of the table"):
        refuse_written([("other", ["4711-0815-7"])], replayed, "the entry")


VOUCHERS = ["WELCOME10", "SUMMER2024", "SUMMER2023", ""]


@for_each(
    ("columns", "expected"),
    [
        (["customer", "voucher"], {"voucher": "contains codes with the number of another identifier"}),
        (["voucher"], {"voucher": "contains numbered codes that hardly any two records share"}),
        (["customer", "campaign"], {}),
        (["campaign", "cohort"], {}),
        (["dob", "cohort"], {}),
    ],
)
def test_codes_with_the_number_of_a_person_are_found_beside_codes_that_many_share(columns, expected, write):
    rng = random.Random(7)
    rows = []
    for place in range(400):
        customer, born = f"{rng.randint(1000, 9999)}{place:03}", rng.randint(1960, 1999)
        own = [f"HAPPY-BDAY-{customer}"] * (place % 10 == 0)
        rows.append(
            {
                "customer": customer,
                "voucher": rng.choice(own or VOUCHERS),
                "campaign": rng.choice(VOUCHERS),
                "cohort": f"BORN-{born}",
                "dob": f"{born}-0{rng.randint(1, 9)}-{rng.randint(10, 28)}",
            }
        )
    lines = [",".join(row[name] for name in columns) for row in rows]
    told = reasons(write("t.csv", "\n".join([",".join(columns), *lines]) + "\n"))
    assert {name: why for name, why in told.items() if name not in {"customer", "dob"}} == expected


def test_a_column_that_is_nearly_empty_tells_only_of_those_few(write, tmp_path):
    rows = [
        f"{'VIP' * (place == 7)},{'late' * (place % 9 == 0)},{place % 4},{'yn'[place % 3 > 0]}" for place in range(260)
    ]
    table = write("t.csv", "\n".join(["remark,late,size,y", *rows]) + "\n")
    started = start(table, "y", tmp_path / "plan.yaml")
    assert dict(started.left_out) == {"remark": "fewer than 20 records have a value, which tells about nobody else"}
    assert [each.attribute.name for each in started.attributes] == ["late", "size"]
