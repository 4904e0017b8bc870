"""What a trained model does on a configuration: measured by the provider, published, and read beside advice."""

import json
import re
from uuid import uuid4

import pytest

from tests.provider.check.checked_tables import PLAN, as_csv, records

CONFIGURATIONS = "configurations: {fine: {age: decades, town: side}, coarse: {age: decades, town: drop}}\n"


@pytest.fixture
def files(tmp_path):
    """A table, its plan, and where its entry goes."""
    table, plan, entry = (tmp_path / name for name in ("table.csv", "plan.yaml", "entry.json"))
    table.write_text(as_csv(records()), encoding="utf-8")
    plan.write_text(f"label: y\n{PLAN}{CONFIGURATIONS}", encoding="utf-8")
    return table, plan, entry


@pytest.mark.long
def test_the_auc_of_a_check_stands_beside_the_advice_and_does_not_change_it(aegis, client, files):
    table, plan, entry = files
    assert aegis("summarize", table, "--plan", plan, "--name", f"measured-{uuid4().hex}", "--output", entry)[0] == 0
    entry_id = aegis("publish", entry)[1].strip()
    before = aegis("advise", entry_id)[1]
    assert "measured" not in before

    checked = ("--configurations", "fine", "--seconds", 600, "--entry", entry)
    assert aegis("check", table, "--plan", plan, *checked)[::2] == (0, "")
    measured = json.loads(entry.read_text())["configurations"][0]["measured"]
    assert aegis("publish", entry, "--update")[0] == 0

    assert client.entry(entry_id).entry_schema["configurations"][0]["measured"] == measured
    assert client.summaries(entry_id)["configurations"][0]["measured"] == measured
    header, row, *others = [line for line in aegis("advise", entry_id)[1].splitlines() if line.startswith("  ")]
    assert re.search(r"  measured +in words$", header)
    assert f"  AUC {measured['auc']:.3f} of {measured['raw_auc']:.3f}  " in row
    assert others[0][header.index("measured") :].startswith("- ")
    ranked = [line.split()[:3] for line in (row, others[0])]
    assert ranked == [line.split()[:3] for line in before.splitlines() if line.startswith(("  fine", "  coarse"))][:2]
