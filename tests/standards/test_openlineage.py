"""The OpenLineage event of a delivery, as the client of that project reads it."""

import json
from copy import deepcopy
from dataclasses import replace
from hashlib import sha256

import pytest

from aegis_provider.handover import Lineage, fulfil, storage_at
from tests.standards.judging import judged
from tests.stores import web_store


@pytest.fixture
def sent(task, tmp_path):
    """The only event of a delivery, and the delivery."""
    with web_store() as store:
        lined = replace(task, lineage=Lineage.at(str(tmp_path / "lineage.jsonl")))
        done = fulfil(lined, storage_at(store.url), tmp_path / "work")
    [line] = (tmp_path / "lineage.jsonl").read_text().splitlines()
    return json.loads(line), done


def read_by_them(event, folder):
    path = folder / "event.json"
    path.write_text(json.dumps(event))
    return judged("openlineage_event.py", path)


def plain(value):
    """Without members that are empty, which the client adds."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items() if each not in ({}, [])}
    return [plain(each) for each in value] if isinstance(value, list) else value


def test_their_client_reads_and_writes_the_same_event(sent, task, people, tmp_path):
    event, done = sent
    read = read_by_them(event, tmp_path)
    ours = deepcopy(event)
    for each in (read, ours):  # the client has only its own address for facets of others
        each["outputs"][0]["facets"]["aegis_masking"].pop("_schemaURL")
    assert plain(read) == plain(ours)
    [before], [after] = event["inputs"], event["outputs"]
    assert (before["namespace"], before["name"]) == ("file", str((people / "people.csv").resolve()))
    assert after["facets"]["version"]["datasetVersion"] == f"sha256:{done.request.delivery.sha256}"
    assert f"{after['namespace']}/{after['name']}" == done.request.delivery.url
    assert event["run"]["runId"] == task.request_id
    masked = after["facets"]["columnLineage"]["fields"]
    assert {name: each["inputFields"][0]["transformations"][0]["masking"] for name, each in masked.items()} == {
        "age": True, "town": True, "ill": False,
    }  # fmt: skip


def test_the_event_has_no_digest_by_which_the_table_or_its_counts_could_be_guessed(sent, task, people):
    event, done = sent
    text = json.dumps(event)
    raw = sha256((people / "people.csv").read_bytes()).hexdigest()
    head = task.service.entry(done.request.entry.id)
    assert head.digest.startswith("sha256:")
    assert not [digest for digest in (raw, head.digest.removeprefix("sha256:")) if digest in text]
    assert event["inputs"][0]["facets"]["version"]["datasetVersion"].startswith("hmac-sha256:")


def test_a_wrong_event_is_refused_by_their_client(sent, tmp_path):
    event, _ = sent
    wrong = {
        "ValueError": {"run": {"runId": "one"}},
        "KeyError": {"eventType": "DONE"},
        "TypeError": {"colour": "green"},
    }
    said = {kind: read_by_them(event | change, tmp_path)["error"].partition(":")[0] for kind, change in wrong.items()}
    assert said == {kind: kind for kind in wrong}
