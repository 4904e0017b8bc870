"""`aegis entries croissant`: what it writes beside a delivered table, and what it refuses."""

import hashlib
import json
import random
from uuid import uuid4

import pytest

from aegis_provider import load_plan, prepare_entry


@pytest.fixture
def licensed(client, head):
    document = client.summaries(head.id) | {"name": f"{head.name}-licensed", "license": "CC0-1.0"}
    return client.publish(document, accept_small_counts=True)


@pytest.fixture
def table(people, aegis, tmp_path):
    path = tmp_path / "masked.csv"
    options = ("--plan", people / "plan.yaml", "--configuration", "tens", "--output", path, "--accept-unique")
    code, _, said = aegis("apply", people / "people.csv", *options)
    assert code == 0, said
    return path


def test_the_document_is_beside_the_table_with_its_digest(aegis, client, licensed, table):
    code, out, said = aegis("entries", "croissant", licensed.id, "--configuration", "tens", "--table", table, "--json")
    path = table.with_name("masked.croissant.json")
    assert (code, json.loads(out), said) == (0, {"file": str(path)}, "")
    document = json.loads(path.read_text())
    [file] = document["distribution"]
    assert (file["sha256"], file["contentSize"]) == (
        hashlib.sha256(table.read_bytes()).hexdigest(),
        f"{table.stat().st_size} B",
    )
    [described] = document["recordSet"]
    assert described["description"] == "Promises k 20."
    assert document["url"] == f"{client.url}/datasets/{licensed.id}"


def test_parquet_is_described_as_what_it_is(aegis, people, licensed, tmp_path):
    path = tmp_path / "masked.parquet"
    options = ("--plan", people / "plan.yaml", "--configuration", "tens", "--output", path, "--accept-unique")
    assert aegis("apply", people / "people.csv", *options)[0] == 0
    assert aegis("entries", "croissant", licensed.id, "--configuration", "tens", "--table", path)[0] == 0
    [file] = json.loads((tmp_path / "masked.croissant.json").read_text())["distribution"]
    assert (file["encodingFormat"], file["contentUrl"]) == ("application/x-parquet", "masked.parquet")


def test_what_is_no_such_table_is_refused(aegis, people, licensed, head, table, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("age,ill\n20-39,yes\n")
    described = tmp_path / "described.csv"
    described.write_bytes(table.read_bytes())
    package = {"$schema": "x", "title": "x", "aegis:made_up": False, "aegis:configuration": "whole", "resources": []}
    described.with_name("described.csv.datapackage.json").write_text(json.dumps(package))
    binary = tmp_path / "binary.csv"
    binary.write_bytes(b"age,town,ill\n\xff\xfe,A,yes\n")
    cases = {
        "no masked configuration": (licensed.id, "gone", table),
        "has no column town": (licensed.id, "tens", other),
        "no table of this configuration has '20' in age": (licensed.id, "tens", people / "people.csv"),
        "no table of this configuration has '20-39' in age": (licensed.id, "whole", table),
        "by its package": (licensed.id, "tens", described),
        "cannot be read": (licensed.id, "tens", tmp_path / "none.csv"),
        "not a table": (licensed.id, "tens", binary),
        "states no licence": (head.id, "tens", table),
    }
    for words, (entry_id, configuration, path) in cases.items():
        code, out, said = aegis("entries", "croissant", entry_id, "--configuration", configuration, "--table", path)
        assert (code, out) == (2, ""), words
        assert words in " ".join(said.split()), said
    assert [*tmp_path.glob("*.croissant.json")] == []


FORMULA_PLAN = """label: ill
license: CC0-1.0
attributes:
  =sum: {type: integer, maskings: {tens: {bucketize: {width: 20}}}}
configurations:
  tens: {=sum: tens}
"""


def test_the_names_in_the_header_may_have_a_mark_and_an_apostrophe(aegis, client, tmp_path):
    draw = random.Random(7)
    rows = [f"{draw.randint(20, 79)},{draw.choice(['yes', 'no'])}" for _ in range(400)]
    (tmp_path / "raw.csv").write_text("\n".join(["=sum,ill", *rows]) + "\n")
    (tmp_path / "plan.yaml").write_text(FORMULA_PLAN)
    plan = load_plan(tmp_path / "plan.yaml")
    prepared = prepare_entry(tmp_path / "raw.csv", plan, name=f"formulas-{uuid4().hex}", exact=True)
    head = client.publish(prepared.entry, accept_small_counts=True)
    table = tmp_path / "masked.csv"
    options = ("--plan", tmp_path / "plan.yaml", "--configuration", "tens", "--output", table, "--accept-unique")
    assert aegis("apply", tmp_path / "raw.csv", *options, "--escape-formulas")[0] == 0
    written = table.read_bytes()
    assert written.startswith(b"'=sum,ill")
    for data in (written, b"\xef\xbb\xbf" + written, b"\xef\xbb\xbf" + written.removeprefix(b"'")):
        table.write_bytes(data)
        code, _, said = aegis("entries", "croissant", head.id, "--configuration", "tens", "--table", table)
        assert (code, said) == (0, "")
        [described] = json.loads(table.with_name("masked.croissant.json").read_text())["recordSet"]
        columns = {field["name"]: field["source"]["extract"]["column"] for field in described["field"]}
        assert columns == {"=sum": data.decode("utf-8-sig").split(",")[0], "ill": "ill"}


def test_a_document_that_cannot_be_written_leaves_the_older_one(aegis, aegis_on_full_disk, licensed, table):
    command = ("entries", "croissant", licensed.id, "--configuration", "tens", "--table", table)
    assert aegis(*command)[0] == 0
    before = {path.name: path.read_bytes() for path in table.parent.iterdir()}
    code, _, said = aegis_on_full_disk(1_000, *command)
    assert (code, said.endswith("cannot be written: File too large\n")) == (2, True)
    assert {path.name: path.read_bytes() for path in table.parent.iterdir()} == before
