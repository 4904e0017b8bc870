"""The commands `aegis` and `aegis-server`, end to end on the example."""

import csv
import json
from pathlib import Path
from uuid import uuid4

HEALTH = Path(__file__).parents[2] / "examples" / "health"
TABLE, PLAN = HEALTH / "health.csv", HEALTH / "plan.yaml"


def test_from_a_table_to_the_masked_table_of_the_winner(aegis, tmp_path):
    entry, masked = tmp_path / "entry.json", tmp_path / "masked.csv"
    name = f"health-{uuid4().hex}"
    assert aegis("summarize", TABLE, "--plan", PLAN, "--name", name, "--output", entry)[0] == 0

    code, first, _ = aegis("publish", entry, "--accept-unique")
    assert code == 0
    assert aegis("publish", entry, "--accept-unique") == (0, first, "")
    entry_id = first.strip()
    [ledger] = json.loads(aegis("ledger", "show", name, "--json")[1])["ledgers"]
    assert [(event["what"], event["entry"], event["version"]) for event in ledger["events"]] == [("entry", name, 1)]

    code, report, _ = aegis("advise", entry_id, "--measure", "mutual_information", "--require", "k=2", "--json")
    advice = json.loads(report)
    assert code == 0
    assert advice["considered"] < len(json.loads(entry.read_text())["configurations"])

    winner = advice["configuration"]
    assert aegis("apply", TABLE, "--stays", "--plan", PLAN, "--configuration", winner, "--output", masked)[0] == 0
    with TABLE.open() as table, masked.open() as result:
        told = [[row["health"] for row in csv.DictReader(each)] for each in (table, result)]
    assert told[0] != told[1]  # the order of the records is no longer that of the table
    assert sorted(told[0]) == sorted(told[1])


def test_a_changed_entry_needs_to_be_meant(aegis, tmp_path):
    entry = tmp_path / "entry.json"
    name = f"health-{uuid4().hex}"
    aegis("summarize", TABLE, "--plan", PLAN, "--name", name, "--output", entry)
    entry_id = aegis("publish", entry, "--accept-unique")[1].strip()
    entry.write_text(json.dumps(json.loads(entry.read_text()) | {"title": "Another"}))

    code, _, complaint = aegis("publish", entry, "--accept-unique")
    assert (code, complaint.count("\n")) == (2, 1)
    assert "--update" in complaint
    assert aegis("publish", entry, "--update", "--accept-unique") == (0, f"{entry_id}\n", "")


def test_bad_input_is_one_line_and_code_2(aegis):
    for arguments, told in (
        (("advise", uuid4(), "--measure", "g3"), "no entry"),
        (("publish", "no-such-file.json"), "no-such-file.json"),
        (("advise", uuid4(), "--measure", "g3", "--require", "k"), "NAME=NUMBER"),
    ):
        code, output, complaint = aegis(*arguments)
        assert (code, output, complaint.count("\n")) == (2, "", 1)
        assert told in complaint
