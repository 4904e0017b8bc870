"""A table of people goes the whole way: published, asked for, approved by an agent, delivered, received, refreshed."""

import json
from uuid import uuid4

import pytest

from aegis_provider import load_plan
from tests.contract.test_fulfil_people import visits as visits  # noqa: PLC0414 - a fixture
from tests.stores import web_store

pytestmark = pytest.mark.long


def test_people_are_counted_up_to_the_consumer_and_in_the_next_version(aegis, client, visits, tmp_path, monkeypatch):
    monkeypatch.setenv("AEGIS_LINKS_ALLOW_PRIVATE", "true")
    table, name, folder = visits / "visits.csv", f"visits-{uuid4().hex}", tmp_path / "release"
    options = ("--label", "ill", "--person", "who", "--rows-per-person", 3, "--effort", "small", "--output", folder)
    assert aegis("release", table, *options, "--name", name, "--to", "default", "--publish")[0] == 0
    [head] = client.entries(query=name)
    assert head.unit == "person"
    asked = {"purpose": "Study of care", "contact": "me", "terms": head.terms, "require": {"k": 5}, "unit": "person"}
    made = client.requests.create(head.id, "mutual_information", **asked, wait=60)
    with web_store() as store:
        planned = f"{{table: {table}, plan: {folder}/configurations.yaml}}"
        rules = "approve: [{tenants: [default], require: {k: 5}}]\n"
        (tmp_path / "policy.yaml").write_text(f"to: {store.url}\nentries: {{{name}: {planned}}}\n{rules}")
        agent = ("--policy", tmp_path / "policy.yaml", "--work", tmp_path / "work")
        code, log, error = aegis("requests", "agent", *agent, "--once", "--json")
        events = [json.loads(line)["event"] for line in log.splitlines()]
        assert (code, error, events) == (0, "", ["approved", "delivered"])
        code, out, error = aegis("receive", made.id, "--output", tmp_path / "received.csv")
    assert (code, error) == (0, "")
    assert "k counts people, who are not in the table" in out
    request = client.requests.get(made.id)
    chosen = load_plan(folder / "configurations.yaml").configuration(request.configuration)
    assert request.state == "received"
    assert request.delivery.privacy["k"] <= chosen.privacy["k"]
    told = request.delivery.card["for_consumers"]
    assert "Fewer than 5 people look alike" in told  # as asked, whatever was promised
    assert not any("600" in text or "'who'" in text for text in (log, told))  # how many people there are
    rows = [f"new{n},{30 + n % 40},A,yes\n" for n in range(30) for _ in range(2)]
    table.write_text(table.read_text() + "".join(rows))
    code, out, _ = aegis("refresh", folder, table, "--publish")
    assert code == 0
    assert "held back until enough of a kind" in out  # of those who came
    entry = json.loads((folder / "entry.json").read_text())
    assert (entry["unit"], entry["rows_per_person"], entry["people"] > 600) == ("person", 3, True)
    assert client.entry(head.id).version > head.version


def test_exact_independence_shares_no_column_of_people(aegis, visits, tmp_path):
    options = ("--hide", "town", "--from", "age", "--clusters", 3, "--plan", visits / "plan.yaml")
    code, _, error = aegis("independence", visits / "visits.csv", *options, "--output", tmp_path / "masked.csv")
    assert (code, (tmp_path / "masked.csv").exists()) == (2, False)
    assert "records are counted here, not people, and 'who' would stay" in error
