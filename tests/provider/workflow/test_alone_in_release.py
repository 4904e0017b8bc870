"""A release of a table in which a plan says that others know only one of many columns."""

import csv
import json
import random
from collections import Counter

import pytest

ONLY = "private only against attackers who know no more than: gender"


@pytest.fixture(scope="module")
def telephone(tmp_path_factory):
    rng, path = random.Random(8), tmp_path_factory.mktemp("telephone") / "telephone.csv"
    lines = ["gender,tenure,payment,churn"]
    for _ in range(600):
        tenure = rng.randint(0, 72)
        churns = "yes" if rng.random() < 0.5 - tenure / 200 else "no"
        lines.append(f"{rng.choice('FM')},{tenure},{rng.choice('abcd')},{churns}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.long
def test_no_part_of_it_passes_and_all_say_how_many_are_alone(aegis, telephone, tmp_path):
    plan, output = tmp_path / "plan.yaml", tmp_path / "release"
    plan.write_text(
        "label: churn\nquasi_identifiers: [gender]\n"
        "attributes:\n  gender: {}\n  tenure: {type: integer}\n  payment: {}\n"
    )
    command = ("release", telephone, "--label", "churn", "--plan", plan, "--output", output)
    code, out, _ = aegis(*command)
    with (output / "masked.csv").open(newline="") as file:
        rows = [tuple(value for name, value in each.items() if name != "churn") for each in csv.DictReader(file)]
    share = sum(number == 1 for number in Counter(rows).values()) / len(rows)
    card = json.loads((output / "card.json").read_text())
    own = card["alone"]["shares"][card["configuration"]]
    assert 0.1 < share <= own < share + 0.02
    told = f"{100 * own:.2g} % of the records are alone on all shared columns in {card['configuration']}"
    assert code == 1
    assert any(line.startswith(f"{ONLY}; {told}") for line in out.splitlines())
    assert card["privacy_verdict"].startswith(f"{ONLY}: {card['configuration']} holds k = ")
    page = " ".join((output / "card.md").read_text().replace("\\", "").split())
    assert ONLY in page
    assert told in page
    assert f"{card['configuration']} shares {len(rows[0])} columns besides churn" in page
    entry = json.loads((output / "entry.json").read_text())
    assert entry["quasi_identifiers"] == ["gender"]
    assert {each["id"]: each["alone"] for each in entry["configurations"]}[card["configuration"]] == own
    assert aegis(*command, "--accept-unique")[0] == 0
