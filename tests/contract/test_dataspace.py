"""Two exchanges trade over the Dataspace Protocol alone: `aegis dsp` of one buys from the other, and verifies."""

import json
import threading
from contextlib import contextmanager
from uuid import uuid4

import pytest

from aegis_provider import load_plan, prepare_entry
from aegis_provider.handover import Task, fulfil, storage_at
from aegis_sdk import Client, read
from tests.in_thread import own_database, serving
from tests.service import AUDIT_KEY
from tests.stores import web_store
from tests.waiting import wait_until


@pytest.fixture(scope="module")
def other_url(postgres, migrated):
    """A second exchange, which may send messages to this machine."""
    allowed = {"links_allow_private": "true", "webhooks_allow_private": "true"}
    with own_database(postgres, migrated) as database_url, serving(database_url, audit_key=AUDIT_KEY, **allowed) as url:
        yield url


@pytest.fixture
def store():
    with web_store() as running:
        yield running


def published(client, people):
    plan = load_plan(people / "plan.yaml")
    prepared = prepare_entry(people / "people.csv", plan, name=f"people-{uuid4().hex}", exact=True)
    return client.publish(prepared.entry, accept_small_counts=True)


@contextmanager
def providing(url, people, head, store, work, changed=None):
    """A provider that approves what is requested of its entry, and delivers it, while the block runs.

    `changed` changes the file in the store after the delivery.
    """
    ended = threading.Event()

    def provide():
        with Client(url) as client:
            while not ended.wait(0.1):
                for one in client.requests.list(entry_id=head.id, state="advised"):
                    approved = client.requests.approve(one.id)
                    task = Task(client, approved.id, people / "people.csv", load_plan(people / "plan.yaml"))
                    fulfil(task, storage_at(store.url), work)
                    if changed is not None:
                        store.files = {name: changed(content) for name, content in store.files.items()}

    thread = threading.Thread(target=provide, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.fixture
def buying(aegis, tmp_path, monkeypatch):
    """Run `aegis dsp` as the people of one exchange, who know only the other's address."""
    monkeypatch.setenv("AEGIS_URL", "http://127.0.0.1:9/nothing-is-here")
    monkeypatch.setenv("AEGIS_LINKS_ALLOW_PRIVATE", "true")
    monkeypatch.chdir(tmp_path)
    return aegis


@pytest.mark.parametrize("hears", [False, True])
def test_what_is_bought_is_verified(buying, url, other_url, people, store, tmp_path, hears):
    seller = other_url if hears else url
    with Client(seller) as client:
        head = published(client, people)
        dataset = f"urn:uuid:{head.id}"
        code, out, _ = buying("dsp", "catalog", seller, "--limit", 10_000)
        assert code == 0
        offers = [line.split() for line in out.splitlines() if dataset in line]
        assert [(words[-2], words[-1].rpartition(":")[2]) for words in offers] == [
            ("k=20", "tens"),
            ("k=1000", "whole"),
        ]
        listening = ("--callback", "http://127.0.0.1:18765", "--listen", "127.0.0.1:18765") if hears else ()
        asked = ("--purpose", "A study of local care", "--output", "bought.csv", "--json", *listening)
        with providing(seller, people, head, store, tmp_path / "work"):
            code, out, err = buying("dsp", "request", seller, dataset, *asked)
        assert code == 0, err
        assert json.loads(out)["verdict"] == "received"
        (request,) = [client.requests.get(one.id) for one in client.requests.list(entry_id=head.id)]
    assert (request.state, request.configuration, request.purpose) == ("received", "tens", "A study of local care")
    assert (tmp_path / "bought.csv").read_bytes() in store.files.values()
    assert len(read("bought.csv", frame="polars")) == 1000
    code, _, err = buying("dsp", "request", seller, dataset, "--output", "bought.csv")
    assert (code, "something is there" in err) == (2, True)  # before anything is negotiated
    with Client(seller) as client:
        assert len(list(client.requests.list(entry_id=head.id))) == 1


def test_another_file_is_disputed_with_its_digest(buying, url, people, store, tmp_path):
    with Client(url) as client:
        head = published(client, people)
        with providing(url, people, head, store, tmp_path / "work", lambda content: content[:-4] + b"no\r\n"):
            code, out, _ = buying("dsp", "request", url, f"urn:uuid:{head.id}", "--json")
        assert (code, json.loads(out)["verdict"]) == (3, "disputed")
        (request,) = [client.requests.get(one.id) for one in client.requests.list(entry_id=head.id)]
    assert request.state == "disputed"
    assert "SHA-256" in request.changes[-1].reason


def test_a_slow_provider_is_continued_and_a_refusal_is_told(buying, url, people):
    with Client(url) as client:
        head = published(client, people)
        dataset = f"urn:uuid:{head.id}"
        code, _, err = buying("dsp", "request", url, dataset, "--wait", 0.1)
        assert code == 1
        continued = err.strip().partition(" continue it with ")[2].split()
        assert [continued[0], continued[2]] == ["--offer", "--pid"]
        (request,) = client.requests.list(entry_id=head.id)
        wait_until(lambda: client.requests.get(request.id).state == "advised", "there is no advice")
        client.requests.decline(request.id, reason="Not for this")
        code, _, err = buying("dsp", "request", url, dataset, *continued[2:])
        assert (code, "--pid: name the --offer" in err) == (2, True)
        code, _, err = buying("dsp", "request", url, dataset, *continued)
        assert (code, "the provider has ended it: Not for this" in err) == (1, True)
        code, _, err = buying("dsp", "request", url, dataset, "--offer", "urn:aegis:offer:x")
        assert (code, "has no offer" in err) == (2, True)
