"""A plan whose configurations mask a label, the default one or another: from the table to the verified masked table."""

import csv
import json
from collections import Counter
from itertools import product
from uuid import uuid4

import httpx
import pytest

from aegis_sdk import InvalidError
from tests.contract.test_labels_journey import TABLE
from tests.stores import web_store

PLAN = """labels: LABELS
attributes:
  health:
    maskings:
      three: {mapping: {poor: bad, fair: bad, good: good, excellent: excellent}}
      two: {mapping: {poor: bad, fair: bad, good: well, excellent: well}}
  visits:
    type: integer
    maskings: {some: {bucketize: {edges: [0, 1, 4, .inf]}}, any: {bucketize: {edges: [0, 1, .inf]}}}
  coinsurance: {type: integer, maskings: {share: {bucketize: {edges: [0, 1, .inf]}}}}
configurations:
  fine: {visits: any, coinsurance: share}
  three: {visits: some, health: three}
  two: {visits: some, coinsurance: share, health: two}
"""
BAD = {"poor": "bad", "fair": "bad", "good": "good", "excellent": "excellent"}


@pytest.fixture(scope="module")
def rows():
    """A tenth of the health study."""
    with TABLE.open() as table:
        return list(csv.DictReader(table))[::10]


@pytest.fixture
def folder(tmp_path, rows, monkeypatch):
    """A folder with the table and its plan, which is where commands run."""
    with (tmp_path / "health.csv").open("w") as table:
        out = csv.DictWriter(table, [*rows[0]])
        out.writeheader()
        out.writerows(rows)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "labels", [["health", "deductible_plan"], ["deductible_plan", "health", "physical_limitation"]], ids=len
)
def test_a_masked_label_goes_all_the_way(aegis, client, url, folder, rows, monkeypatch, labels):
    monkeypatch.setenv("AEGIS_LINKS_ALLOW_PRIVATE", "true")
    (folder / "plan.yaml").write_text(PLAN.replace("LABELS", f"[{', '.join(labels)}]"))
    plan, name, is_default = ("--plan", "plan.yaml"), f"masked-{uuid4().hex}", labels[0] == "health"
    label, about = (None, ()) if is_default else ("health", ("--label", "health"))
    code, _, said = aegis("summarize", "health.csv", *plan, "--name", name, "--pairs", "--output", "entry.json")
    assert (code, said) == (0, "")
    entry = json.loads((folder / "entry.json").read_text())
    if is_default:
        assert (entry["format"], [each["id"] for each in entry["label"]["maskings"]]) == (4, ["three", "two"])
        _agrees_with(entry, rows)
    code, out, said = aegis("disclose", "entry.json", "--check")
    assert (code, out[:4], said) == (0, "PASS", "")
    head = client.publish(entry, accept_unique=True)

    asked = {
        one: client.advise(head.id, "joint", label=label, target=one, limit=None) for one in (None, "three", "two")
    }
    assert {target: len(advice.ranking) for target, advice in asked.items()} == {None: 3, "three": 2, "two": 3}
    for target, advice in asked.items():
        chosen = about if target is None else (*about, "--target", target)
        assert advice.configuration in aegis("advise", head.id, "--measure", "joint", *chosen)[1].splitlines()[0]
        body = {"measure": "joint", "label": label, "target": target, "limit": None}
        sent = httpx.post(f"{url}/v1/entries/{head.id}/advice", json=body, headers={"Prefer": "wait=60"})
        ranked = [row["configuration"] for row in sent.json()["ranking"]]
        assert ranked == [each.configuration for each in advice.ranking]
    other = client.advise(head.id, "joint", label=labels[-1], limit=None)
    assert (other.label.left_out, len(other.ranking)) == (0, 3)

    coarser = {"target": "three", "configuration": "two", "purpose": "a study", "contact": "me", "terms": head.terms}
    with pytest.raises(InvalidError) as refused:
        client.requests.create(head.id, "joint", label=label, **coarser)
    assert [fault.pointer for fault in refused.value.problem.errors] == ["/configuration"]

    terms = ("--purpose", "a study", "--contact", "me", "--accept-terms", "--json")
    code, out, said = aegis(
        "requests", "new", head.id, "--measure", "joint", *about, "--configuration", "three", *terms
    )
    assert (code, said) == (0, "")
    made = json.loads(out)
    client.requests.approve(made["id"])
    with web_store() as store:
        into = ("--to", store.url, "--work", "work", "--accept-unique")
        code, _, said = aegis("requests", "fulfil", made["id"], "health.csv", *plan, *into)
        assert code == 0, said
        code, out, _ = aegis("receive", made["id"], "--output", "masked.csv")
    assert (code, "none differ" in out) == (0, True)
    with (folder / "masked.csv").open() as table:
        shown = Counter(row["health"] for row in csv.DictReader(table))
    assert shown == Counter(BAD.get(row["health"], "") for row in rows)


def _agrees_with(entry, rows):
    """No count of a masked label is further off than it says, and none is of a label that no configuration shows."""
    [visits, coinsurance] = (one for one in entry["attributes"] if one["name"] in ("visits", "coinsurance"))
    assert coinsurance["domain"] == ["0", "[10,60)", "[60,inf)"]
    three = entry["label"]["maskings"][0]["domain"]
    shown = {
        ("visits", "some"): lambda row: (int(row["visits"]) >= 1) + (int(row["visits"]) >= 4),
        ("coinsurance", "identity"): lambda row: (int(row["coinsurance"]) >= 10) + (int(row["coinsurance"]) >= 60),
        ("health", "three"): lambda row: three.index(BAD.get(row["health"], "")),
    }
    blocks = [each for each in entry["pairs"] if "health" in each["attributes"] and "joint" in each]
    assert sorted(map(tuple, (each["maskings"] for each in blocks))) == [("identity", "three"), ("some", "three")]
    for each in blocks:
        both = [shown[one] for one in zip(each["attributes"], each["maskings"], strict=True)]
        counted = Counter(tuple(of(row) for of in both) for row in rows)
        assert sum(counted.values()) == len(rows)
        for at in product(range(len(each["joint"])), range(len(each["joint"][0]))):
            off = each["joint"][at[0]][at[1]] - counted[at]
            assert abs(off) < each["rounded_to"] * each["within"]
    assert [("joint" in each) for each in visits["maskings"]] == [False, True]
    assert "joint" not in coinsurance
