"""Attributes hidden by `aegis independence`, ranked beside plain maskings of the same table."""

import csv
import json
from pathlib import Path
from uuid import uuid4

import pytest

TABLE = Path(__file__).parents[2] / "examples" / "health" / "health.csv"

PLAN = """
label: health
attributes:
  physical_limitation: {maskings: {limitation-hidden: {masked_table: {file: masked.csv}}}}
  chronic_diseases:
    maskings:
      chronic-4: {bucketize: {width: 4}}
      chronic-hidden: {masked_table: {file: masked.csv}}
  coinsurance: {maskings: {coinsurance-clusters: {masked_table: {file: masked.csv}}}}
configurations:
  plain: {chronic_diseases: chronic-4}
  independent:
    physical_limitation: limitation-hidden
    chronic_diseases: chronic-hidden
    coinsurance: coinsurance-clusters
"""


@pytest.mark.long
def test_the_advice_says_what_hiding_costs(aegis, tmp_path):
    masked, plan, entry = tmp_path / "masked.csv", tmp_path / "plan.yaml", tmp_path / "entry.json"
    plan.write_text(PLAN)
    asked = ("--hide", "physical_limitation,chronic_diseases", "--from", "coinsurance", "--clusters", "4")
    asked += ("--keep", "health", "--ordered", "coinsurance")
    code, report, _ = aegis("independence", TABLE, *asked, "--output", masked, "--json")
    hidden = json.loads(report)
    assert code == 0
    assert hidden["dropped"] == 2
    with TABLE.open(newline="") as before, masked.open(newline="") as after:
        assert len(list(csv.DictReader(before))) == len(list(csv.DictReader(after))) + 2

    name = f"hidden-{uuid4().hex}"
    assert aegis("summarize", TABLE, "--plan", plan, "--name", name, "--output", entry, "--exact")[0] == 0
    entry_id = aegis("publish", entry, "--accept-small-counts", "--accept-unique")[1].strip()
    code, report, _ = aegis("advise", entry_id, "--measure", "mutual_information", "--json")
    advice = json.loads(report)
    assert code == 0
    assert [each["configuration"] for each in advice["ranking"]] == ["plain", "independent"]
    told = {tuple(each["attributes"]): each for each in hidden["mutual_information"] if each["with"] == ["health"]}
    utility = {each["configuration"]: each["utility"] for each in advice["ranking"]}
    # The utility of a configuration is the mean over its maskings, whose utilities the command measured.
    assert utility["independent"] == pytest.approx(sum(each["after"] for each in told.values()) / 3, rel=1e-3)
