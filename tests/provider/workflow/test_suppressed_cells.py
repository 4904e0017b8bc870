"""A release by a plan that suppresses single cells, on a table in which it is plain which cells these are."""

import csv
import json
import random
import re
from collections import Counter

import pytest

PLAN = """
label: ill
attributes:
  town: {}
  age: {type: integer}
configurations:
  as-it-is: {}
privacy:
  as-it-is: {k: 5}
suppressed: {as-it-is: 30}
"""
ALIKE = 30
"""The records of each class, and the people of the town Z, each of another age: without the age, they are alike."""


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    rng = random.Random(11)
    rows = [(town, age) for town in "ABC" for age in range(10) for _ in range(ALIKE)]
    rows += [("Z", age) for age in range(ALIKE)]
    likely = {"A": 0.0, "B": 0.2, "C": 0.4, "Z": 0.0}
    lines = [f"{town},{age},{'yes' if rng.random() < 0.05 * (age % 10) + likely[town] else 'no'}" for town, age in rows]
    path = tmp_path_factory.mktemp("cells") / "people.csv"
    path.write_text("\n".join(["town,age,ill", *lines]) + "\n")
    return path


@pytest.mark.long
def test_it_suppresses_cells_and_says_so_everywhere(aegis, people, tmp_path):
    plan, starred, output = tmp_path / "plan.yaml", tmp_path / "cells.yaml", tmp_path / "r"
    plan.write_text(PLAN)
    assert aegis("plan", "cells", people, "--plan", plan, "--output", starred)[0] == 0
    command = ("release", people, "--label", "ill", "--output", output, "--suppress-at-most", 0.05)
    code, out, error = aegis(*command, "--plan", starred)
    assert (code, error) == (0, "")

    with (output / "masked.csv").open() as file:
        masked = list(csv.DictReader(file))
    assert Counter(row["age"] == "*" for row in masked) == {False: 900, True: ALIKE}
    assert {row["town"] for row in masked if row["age"] == "*"} == {"Z"}
    card = json.loads((output / "card.json").read_text())
    assert (card["records"], card["left_out"], card["suppressed_cells"]) == (930, 0, ALIKE)
    assert re.search(
        r"k: 5 asked, \d+ promised, 30 measured in the masked table; 0 records left out, 30 cells suppressed \(\*\)\n",
        out,
    )
    [choice] = [each for each in card["frontier"] if each["require"] == {"k": 5}]
    assert (choice["suppressed"], choice["suppressed_cells"]) == (0, ALIKE)
    told = " ".join((output / "card.md").read_text().replace("\\", "").split())
    assert "no record is left out, and 30 single cells are suppressed: they are *." in told
    assert "| required | configuration | records left out | cells suppressed | keeps |" in told
    entry = json.loads((output / "entry.json").read_text())
    [stated] = [each for each in entry["configurations"] if each["id"] == card["configuration"]]
    # The base is 3; k goes up by it from the 5 that is required.
    assert (stated["suppressed_cells"], stated["privacy"]["k"]) == (30, 29)


@pytest.mark.long
def test_without_such_a_plan_whole_records_are_left_out_and_no_cell_is_spoken_of(aegis, people, tmp_path):
    plan, output = tmp_path / "plan.yaml", tmp_path / "r"
    plan.write_text(PLAN)
    command = ("release", people, "--label", "ill", "--output", output, "--suppress-at-most", 0.05)
    assert aegis(*command, "--plan", plan)[0] == 0
    card = json.loads((output / "card.json").read_text())
    # The entry does not count what no release shows.
    assert (card["records"], card["left_out"], card["suppressed_cells"]) == (900, None, 0)
    assert "some records of the table are left out" in (output / "card.md").read_text()
    assert not re.search(r"cells (are )?suppressed", (output / "card.md").read_text())
