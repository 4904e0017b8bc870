"""A release repeated on the table of today, by hand and by an agent, against the real service."""

import json
from uuid import uuid4

import pytest

from aegis_provider import PlanError
from aegis_provider.handover import Agent, load_policy
from aegis_provider.ledger import ledgers
from aegis_provider.workflow import release

HOURS = 3600.0 * 24
OLD = "2020-01-31"

pytestmark = pytest.mark.long


@pytest.fixture
def released(people, client, tmp_path):
    """A release of a copy of the table, published."""
    table, name = tmp_path / "people.csv", f"people-{uuid4().hex}"
    table.write_text((people / "people.csv").read_text())
    output = tmp_path / "release"
    return table, name, release(table, "ill", output=output, seconds=HOURS, name=name, publish=client)


def test_another_table_is_a_new_version_and_the_same_one_is_none(aegis, client, released):
    table, _, before = released
    version = client.entry(before.entry_id).version
    assert aegis("refresh", before.folder, table, "--publish")[0] == 0
    assert client.entry(before.entry_id).version == version
    table.write_text(table.read_text() + "40,A,yes\n" * 30)
    code, out, error = aegis("refresh", before.folder, table, "--publish")
    assert (code, error) == (0, "")
    assert f"published: {before.entry_id} has this entry" in out
    assert client.entry(before.entry_id).version > version
    entry = json.loads((before.folder / "entry.json").read_text())
    assert client.summaries(before.entry_id)["label"] == entry["label"]


def policy_of(folder, name, table, every):
    path = folder.parent / f"{uuid4().hex}.yaml"
    planned = f"{{table: {table}, plan: {folder}/configurations.yaml, refresh: {every}}}"
    path.write_text(f"to: {folder.parent}/shared\nlink: https://example.org/\nentries:\n  {name}: {planned}\n")
    return path


def aged(folder):
    """Let the release be of an earlier year."""
    path = folder / "provider-only.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"made": OLD}))


def test_an_agent_repeats_it_when_it_is_due_and_only_then(client, released, tmp_path):
    table, name, before = released
    (tmp_path / "shared").mkdir()
    agent = Agent(client, load_policy(policy_of(before.folder, name, table, "monthly")), tmp_path / "work")
    assert [*agent.round()] == []
    table.write_text(table.read_text() + "40,A,yes\n" * 30)
    aged(before.folder)
    version = client.entry(before.entry_id).version
    assert [(event.kind, event.detail) for event in agent.round()] == [("refreshed", name)]
    assert client.entry(before.entry_id).version > version
    left = [(event.what, event.version) for event in ledgers()[0][0].events]
    assert left.count(("masked table", None)) == 1
    assert left[-1] == ("card", client.entry(before.entry_id).version)
    assert [*agent.round()] == []
    aged(before.folder)
    table.unlink()
    [failed] = agent.round()
    assert (failed.kind, failed.request) == ("failed", None)
    assert failed.retry_in > 0
    assert [*agent.round()] == []  # it waits


def test_a_plan_without_a_release_cannot_be_refreshed(people, tmp_path):
    (tmp_path / "shared").mkdir()
    path = policy_of(people, "health", people / "people.csv", "weekly")
    text = path.read_text().replace("configurations.yaml", "plan.yaml")
    path.write_text(text)
    with pytest.raises(PlanError, match="of a release named health, so there is nothing to refresh"):
        load_policy(path)
