"""Croissant of entries and of delivered tables, as mlcroissant loads them."""

import csv
import json
import random
from urllib.parse import quote
from uuid import uuid4

import httpx
import pytest

from aegis_provider import load_plan, prepare_entry
from tests.standards.judging import judged

PLACE = 'pl"a,ce #%/ü'
TABLE = quote("c #1", safe="")
PLAN = f"""label: ill
license: CC0-1.0
title: 'A "title" <b>'
attributes:
  age: {{type: integer, maskings: {{tens: {{bucketize: {{width: 20}}}}}}}}
  visits: {{type: integer}}
  share: {{type: number}}
  day: {{type: date}}
  '{PLACE}': {{type: string}}
configurations:
  'c #1': {{age: tens, visits: identity, share: identity, day: identity, '{PLACE}': identity}}
"""
FORMULA_PLAN = """label: ill
license: CC0-1.0
attributes:
  =sum: {type: integer, maskings: {tens: {bucketize: {width: 20}}}}
configurations:
  'c #1': {=sum: tens}
"""


def write_table(path):
    draw = random.Random(5)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "visits", "share", "day", PLACE, "ill"])
        for _ in range(400):
            age, visits = draw.randint(20, 79), draw.choice(["", "0", "1", "7"])
            place, ill = draw.choice(["a,b", 'c"d', "e\nf"]), draw.choice(["yes", "no"])
            writer.writerow(
                [age, visits, draw.choice(["0.5", "1.25"]), draw.choice(["2026-01-01", "2026-02-01"]), place, ill]
            )


@pytest.fixture
def published(client, tmp_path):
    """An entry, and its table masked."""
    write_table(tmp_path / "raw.csv")
    (tmp_path / "plan.yaml").write_text(PLAN, encoding="utf-8")
    plan = load_plan(tmp_path / "plan.yaml")
    prepared = prepare_entry(tmp_path / "raw.csv", plan, name=f"loaded-{uuid4().hex}", exact=True)
    return client.publish(prepared.entry, accept_small_counts=True, accept_unique=True)


@pytest.fixture
def delivered(aegis, published, tmp_path):  # noqa: ARG001 -- which writes the table
    options = ("--plan", tmp_path / "plan.yaml", "--configuration", "c #1", "--output", tmp_path / "my table.csv")
    code, _, said = aegis("apply", tmp_path / "raw.csv", *options, "--accept-unique", "--accept-identifiers")
    assert code == 0, said
    return tmp_path / "my table.csv"


def described(aegis, head, table):
    code, out, said = aegis("entries", "croissant", head.id, "--configuration", "c #1", "--table", table)
    assert (code, said) == (0, "")
    assert out.strip() == str(table.with_suffix(".croissant.json"))
    return table.with_suffix(".croissant.json")


def loaded(document):
    return judged("croissant_records.py", document, TABLE)


def test_a_delivered_table_is_loaded_with_its_types(aegis, published, delivered):
    read = loaded(described(aegis, published, delivered))
    assert (read["name"], read["license"]) == ('A "title" <b>', ["CC0-1.0"])
    assert [issue for issue in read["issues"] if "citeAs" not in issue] == []
    numbers = {"visits": int, "share": float}
    with delivered.open(newline="", encoding="utf-8") as file:
        rows = [
            {name: (numbers.get(name, str)(cell) if cell else None) for name, cell in row.items()}
            for row in csv.DictReader(file)
        ]
    ids = {name: f"{TABLE}/{quote(name, safe='')}" for name in rows[0]}
    records = [{name: record[ids[name]] for name in ids} for record in read["records"]]
    for record in records:
        record["day"] = str(record["day"])[:10]
    assert records == rows
    assert len(records) == 400


def test_another_file_is_refused(aegis, published, delivered):
    document = described(aegis, published, delivered)
    delivered.write_bytes(delivered.read_bytes().replace(b"yes", b"no ", 1))
    assert "is not identical" in loaded(document)["error"]


def test_suppressed_cells_make_a_column_a_text(aegis, published, delivered):
    with delivered.open(newline="", encoding="utf-8") as file:
        header, first, *rest = csv.reader(file)
    first[header.index("visits")] = "*"
    with delivered.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, first, *rest])
    read = loaded(described(aegis, published, delivered))
    assert {record[f"{TABLE}/visits"] for record in read["records"]} == {None, "*", "0", "1", "7"}


def test_a_header_with_a_mark_and_an_apostrophe_is_loaded(aegis, client, tmp_path):
    rows = "".join(f"{20 + place % 60},{'yes' if place % 3 else 'no'}\n" for place in range(400))
    (tmp_path / "raw.csv").write_text(f"=sum,ill\n{rows}")
    (tmp_path / "plan.yaml").write_text(FORMULA_PLAN)
    plan = load_plan(tmp_path / "plan.yaml")
    prepared = prepare_entry(tmp_path / "raw.csv", plan, name=f"formulas-{uuid4().hex}", exact=True)
    head = client.publish(prepared.entry, accept_small_counts=True, accept_unique=True)
    options = ("--plan", tmp_path / "plan.yaml", "--configuration", "c #1", "--output", tmp_path / "masked.csv")
    assert aegis("apply", tmp_path / "raw.csv", *options, "--accept-unique", "--escape-formulas")[0] == 0
    written = (tmp_path / "masked.csv").read_bytes()
    (tmp_path / "masked.csv").write_bytes(b"\xef\xbb\xbf" + written)
    read = loaded(described(aegis, head, tmp_path / "masked.csv"))
    assert [record[f"{TABLE}/{quote('=sum', safe='')}"] for record in read["records"]] == [
        line.split(",")[0] for line in written.decode().splitlines()[1:]
    ]


def test_an_entry_is_loaded_with_made_up_rows(url, published, tmp_path):
    answer = httpx.get(
        f"{url}/v1/entries/{published.id}", headers={"Accept": "application/ld+json"}, follow_redirects=True
    )
    (tmp_path / "entry.json").write_bytes(answer.content)
    read = loaded(tmp_path / "entry.json")
    assert [issue for issue in read["issues"] if "citeAs" not in issue] == []
    assert [record[f"{TABLE}/made_up"] for record in read["records"]] == [True] * 10
    assert {len(record) for record in read["records"]} == {7}


def test_what_mlcroissant_lets_pass_is_refused_before(aegis, client, published, delivered, tmp_path):
    document = json.loads(described(aegis, published, delivered).read_text())
    for missing in ("license", "name"):
        path = tmp_path / f"{missing}.json"
        path.write_text(json.dumps({name: value for name, value in document.items() if name != missing}))
        assert "records" in loaded(path)
    plan = load_plan(tmp_path / "plan.yaml")
    prepared = prepare_entry(tmp_path / "raw.csv", plan, name=f"loaded-{uuid4().hex}", exact=True)
    unlicensed = prepared.entry.model_copy(update={"license": ""})
    head = client.publish(unlicensed, accept_small_counts=True, accept_unique=True)
    code, out, said = aegis("entries", "croissant", head.id, "--configuration", "c #1", "--table", delivered)
    assert (code, out) == (2, "")
    assert "states no licence" in said
