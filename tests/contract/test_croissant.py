"""`aegis entries croissant`: what it writes beside a delivered table, and what it refuses."""

import hashlib
import json

import pytest


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
