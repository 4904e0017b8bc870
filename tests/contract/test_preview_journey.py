"""A program written on a preview works on the table that is delivered: same columns, separator, types and values."""

import csv
import json
import random
from uuid import uuid4

import pytest

from aegis_sdk.texts import infer_type
from tests.stores import web_store

PLAN = """label: risk
attributes:
  age: {type: integer, maskings: {tens: {bucketize: {width: 10}}}}
  visits: {type: integer}
  day: {type: date, hierarchy: {dates: [quarter]}}
  place: {hierarchy: {tree: {coast: [north, south], inland: [east]}}}
  flag: {type: boolean}
configurations:
  mixed: {age: tens, visits: identity, day: day-1, place: place-1, flag: identity}
"""


def write_table(path):
    draw = random.Random(3)
    lines = ["age;visits;risk;day;place;flag"]
    for _ in range(1000):
        age = draw.choice(["", *map(str, range(20, 70))])
        risk = int(draw.random() < (int(age or 40) / 80))
        day = f"2024-{draw.randrange(1, 13):02}-{draw.randrange(1, 29):02}"
        place, flag = draw.choice(["north", "south", "east"]), draw.choice(["true", "false"])
        lines.append(f"{age};{int(draw.expovariate(0.2))};{risk};{day};{place};{flag}")
    path.write_text("\n".join(lines) + "\n")


def read(path):
    with path.open(newline="") as table:
        return list(csv.DictReader(table))


@pytest.mark.long
def test_what_reads_the_preview_reads_the_delivered_table(aegis, client, tmp_path, monkeypatch):
    monkeypatch.setenv("AEGIS_LINKS_ALLOW_PRIVATE", "true")
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path / "t.csv")
    (tmp_path / "plan.yaml").write_text(PLAN)
    options = ("--plan", "plan.yaml", "--name", f"preview-{uuid4().hex}", "--output", "entry.json")
    assert aegis("summarize", "t.csv", *options)[0] == 0
    head = client.publish(json.loads((tmp_path / "entry.json").read_text()), accept_unique=True)
    code, out, said = aegis("entries", "preview", head.id, "--configuration", "mixed", "--to", "look")
    assert (code, said, "from the published counts" in out) == (0, "", True)
    asked = {"purpose": "a study", "contact": "me", "terms": head.terms, "configuration": "mixed"}
    made = client.requests.create(head.id, "mutual_information", **asked, wait=60)
    client.requests.approve(made.id)
    with web_store() as store:
        into = ("--plan", "plan.yaml", "--to", store.url, "--work", "work", "--accept-unique")
        code, _, said = aegis("requests", "fulfil", made.id, "t.csv", *into)
        assert code == 0, said
        assert aegis("receive", made.id, "--output", "masked.csv")[0] == 0
    described = json.loads((tmp_path / "look" / "datapackage.json").read_text())
    fields = {each["name"]: each for each in described["resources"][0]["schema"]["fields"]}
    delivered, preview = read(tmp_path / "masked.csv"), read(tmp_path / "look" / "preview.csv")
    assert {row.pop("made_up") for row in preview} == {"true"}
    assert {*preview[0]} == {*delivered[0]} == {*fields}
    for name, field in fields.items():
        seen, made_up = ({row[name] for row in rows} - {""} for rows in (delivered, preview))
        assert infer_type(seen) == infer_type(made_up) == field["type"]
        if "constraints" in field:
            assert seen | made_up <= {str(value) for value in field["constraints"]["enum"]}
    assert {name for name, field in fields.items() if "constraints" not in field} == {"visits"}
    assert {name: field["type"] for name, field in fields.items()} == {
        "age": "string", "visits": "integer", "day": "string", "place": "string", "flag": "boolean", "risk": "integer",
    }  # fmt: skip
    tens = fields["age"]["aegis:intervals"][0]
    assert tens == {"value": "20-29", "low": 20, "high": 29, "midpoint": 24.5, "closed": "both"}


def test_a_preview_that_cannot_be_written_leaves_no_half(aegis, aegis_on_full_disk, head, tmp_path):
    look = tmp_path / "look"
    command = ("entries", "preview", head.id, "--configuration", "tens", "--to", look)
    assert aegis(*command)[0] == 0
    rows, described = (len((look / name).read_bytes()) for name in ("preview.csv", "datapackage.json"))
    assert rows != described  # so that one can be written, and the other cannot
    before = {path.name: path.read_bytes() for path in look.iterdir()}
    code, _, said = aegis_on_full_disk(min(rows, described), *command)
    assert (code, said.endswith("the preview cannot be written: File too large\n")) == (2, True)
    assert {path.name: path.read_bytes() for path in look.iterdir()} == before
    (look / "preview.csv").unlink()
    (look / "preview.csv").mkdir()
    code, _, said = aegis(*command)
    assert (code, said.endswith("the preview cannot be written: Is a directory\n")) == (2, True)
    assert (look / "datapackage.json").read_bytes() == before["datapackage.json"]
    assert {path.name for path in look.iterdir()} == set(before)
