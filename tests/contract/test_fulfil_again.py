"""Fulfilment that is disturbed: what others need stays, and what nobody needs goes."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from aegis_provider import load_plan, prepare_entry
from aegis_provider.errors import InUseError, OutputError, PlanError, ServiceError
from aegis_provider.handover import Agent, fulfil, load_policy, storage_at
from aegis_provider.handover.leasing import work_folder
from aegis_sdk import ConflictError, InvalidError
from aegis_sdk.wire import EntryDocument
from tests.stores import web_store


@pytest.fixture
def store():
    with web_store() as running:
        yield running


def agent_of(client, head, store, people, tmp_path):
    path = tmp_path / "policy.yaml"
    planned = f"{{table: {people}/people.csv, plan: {people}/plan.yaml}}"
    path.write_text(f"to: {store.url}\nentries: {{{head.name}: {planned}}}\n")
    return Agent(client, load_policy(path), tmp_path / "work")


class Interrupted:
    """A storage in which something happens right after the upload of a table and its package."""

    def __init__(self, storage, happens):
        self._storage, self._happens = storage, happens

    def put(self, *arguments):
        link = self._storage.put(*arguments)
        if arguments[1].endswith(".datapackage.json"):
            self._happens()
        return link

    def link(self, name):
        return self._storage.link(name)

    def remove(self, name):
        self._storage.remove(name)


class Ended(Interrupted):
    """A storage whose links have ended already, which their form does not show."""

    def link(self, name):
        return super().link(name).model_copy(update={"expires_at": datetime(2020, 1, 1, tzinfo=UTC)})


class Watched:
    """A client whose leases a test knows."""

    def __init__(self, client):
        self.requests, self.entry, self.summaries, self.leases = client.requests, client.entry, client.summaries, []
        self.url = client.url
        take = self.requests.lease
        self.requests.lease = lambda *asked: self.leases.append(take(*asked)) or self.leases[-1]


def test_a_file_stays_for_whoever_has_taken_the_lease(client, task, store, tmp_path):
    watched, storage = Watched(client), storage_at(store.url)

    def lapse():
        client.requests.release(task.request_id, watched.leases[0].lease)
        watched.heir = client.requests.lease(task.request_id, 60)

    with pytest.raises(ConflictError, match="Another program"):
        fulfil(replace(task, service=watched), Interrupted(storage, lapse), tmp_path / "work")
    assert len(store.files) == 2  # with the same folder, the heir has the same file, and need not send it again
    client.requests.release(task.request_id, watched.heir.lease)
    delivery = fulfil(task, storage, tmp_path / "work").request.delivery
    [file, package] = sorted(store.files)
    assert (delivery.sha256 in file, package) == (True, f"{file}.datapackage.json")
    assert store.methods.count("PUT") == 2


def test_what_the_service_refuses_is_removed(task, store, tmp_path):
    with pytest.raises(PlanError, match="must begin with https"):
        fulfil(task, storage_at(store.url, "ftp://shared.example"), tmp_path / "work")
    assert not (tmp_path / "work").exists()
    with pytest.raises(InvalidError, match="cannot be delivered"):
        fulfil(task, Ended(storage_at(store.url), list), tmp_path / "work")
    assert store.files == {}
    assert fulfil(task, storage_at(store.url), tmp_path / "work").request.state == "delivered"


@pytest.mark.parametrize("card", [{"configuration": "tens", "text": "x" * 140_000}, None])
def test_what_cannot_be_described_is_not_uploaded(task, store, tmp_path, card):
    link = None if card else f"{store.url}/{'a' * 4_000}"
    with pytest.raises(PlanError, match="this cannot be delivered: "):
        fulfil(replace(task, card=card), storage_at(store.url, link), tmp_path / "work")
    assert store.files == {}


def test_a_stopped_run_of_a_request_that_has_ended_is_removed(client, task, store, tmp_path):
    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fulfil(task, Interrupted(storage_at(store.url), stop), tmp_path / "work")
    assert len(store.files) == 2
    client.requests.withdraw(task.request_id)
    with pytest.raises(ServiceError, match="is withdrawn; only an approved one"):
        fulfil(task, storage_at(store.url), tmp_path / "work")
    assert (store.files, list((tmp_path / "work").iterdir())) == ({}, [])


def test_one_program_at_a_time_works_in_a_folder(task, store, tmp_path):
    with (
        work_folder(tmp_path / "work", task.request_id),
        pytest.raises(InUseError, match="another program works here"),
    ):
        fulfil(task, storage_at(store.url), tmp_path / "work")
    assert fulfil(task, storage_at(store.url), tmp_path / "work").request.state == "delivered"


def test_a_folder_that_cannot_be_made_is_said(task, store, tmp_path):
    (tmp_path / "work").touch()
    with pytest.raises(OutputError, match="cannot be used"):
        fulfil(task, storage_at(store.url), tmp_path / "work")


@pytest.mark.usefixtures("approved")
def test_an_agent_leaves_what_is_not_its_own(client, head, people, store, tmp_path):
    agent = agent_of(client, head, store, people, tmp_path)
    for name in ("notes", str(uuid4())):  # the latter of another service
        (tmp_path / "work" / name).mkdir(parents=True)
    assert [event.kind for event in agent.round()] == ["delivered"]
    assert len(list((tmp_path / "work").iterdir())) == 2


def test_an_entry_with_its_configurations_in_a_table_is_fulfilled(client, people, store, tmp_path):
    plan = load_plan(people / "plan.yaml")
    prepared = prepare_entry(people / "people.csv", plan, name=f"table-{uuid4().hex}", exact=True)
    document = json.loads(prepared.entry.model_dump_json(exclude_none=True))
    listed = document.pop("configurations")
    document["configuration_table"] = {
        "ids": [each["id"] for each in listed],
        "maskings": {name: [each["maskings"][name] for each in listed] for name in ("age", "town")},
        "privacy": {"k": [each["privacy"]["k"] for each in listed]},
    }
    head = client.publish(EntryDocument.model_validate(document), accept_small_counts=True)
    asked = {"purpose": "a study", "contact": "me", "terms": head.terms}
    client.requests.create(head.id, "mutual_information", **asked, require={"k": 5}, wait=60)
    agent = agent_of(client, head, store, people, tmp_path)
    path = tmp_path / "policy.yaml"
    path.write_text(path.read_text() + "approve: [{tenants: any, require: {k: 20}}]\n")
    agent.policy = load_policy(path)
    events = [*agent.round()]
    assert [event.kind for event in events] == ["approved", "delivered"], events
