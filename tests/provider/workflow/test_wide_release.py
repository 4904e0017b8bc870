"""A release of more columns than a search can compare."""

import csv
import json

import numpy as np
import pytest

from aegis_provider import load_plan
from aegis_provider.draft.drafting import MOST_DRAFTED
from aegis_provider.workflow import release


@pytest.mark.long
def test_a_release_of_300_columns_names_what_it_leaves_out_and_what_it_did_not_finish(tmp_path):
    random, records = np.random.default_rng(2), 600  # whose search and models get no time: any machine is fast enough
    columns = {f"v{place}": random.integers(0, 5 if place % 2 else 60, records) for place in range(300)}
    label = np.where(columns["v0"] + random.integers(0, 30, records) > 45, "a", "b")
    with (tmp_path / "wide.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*columns, "label"])
        writer.writerows(zip(*columns.values(), label, strict=True))
    released = release(tmp_path / "wide.csv", "label", output=tmp_path / "r", require={"k": 5}, seconds=0)
    plan = load_plan(tmp_path / "r" / "plan.yaml", configurations_needed=False)
    names = [each.name for each in plan.attributes]
    assert len(names) == MOST_DRAFTED
    assert "v0" in names
    assert {*names, *plan.left_out} == set(columns)
    assert set(plan.left_out.values()) == {"tells less about 'label' than 60 others; --add NAME drafts it"}
    card = json.loads((tmp_path / "r" / "card.json").read_text())
    assert card["reached"]["k"] >= 5
    search, models = released.card.unfinished
    assert search.startswith("the search ran out of time: another configuration may keep ")
    assert models.startswith("no models were trained: time was up")
