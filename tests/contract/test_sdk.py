"""Every method of the real SDK against the real service."""

import json
from uuid import uuid4

import pytest

from aegis_advisor.measures import MEASURES
from aegis_sdk import (
    AdviceTimeoutError,
    AsyncClient,
    Client,
    ConflictError,
    InvalidError,
    NotFoundError,
    PreconditionFailedError,
    ServiceUnreachableError,
    TooLargeError,
    UnauthorizedError,
    UnavailableError,
    VisibleTo,
)
from tests.in_thread import serving
from tests.postgres import SERVICE, as_role, create_database, drop_database
from tests.service import create_key, example_entry


@pytest.fixture
def entry():
    return example_entry(name=f"entry-{uuid4().hex}")


def test_measures_are_those_of_the_registry(client):
    fields = ("unit", "better", "monotone", "guarantee", "reason", "source", "corrected_by_default")
    found = {measure.id: [getattr(measure, field) for field in fields] for measure in client.measures()}
    assert found == {measure.id: [getattr(measure, field) for field in fields] for measure in MEASURES.values()}
    corrected = [measure.id for measure in client.measures() if measure.bias_correction]
    scored = ["joint_scores", "correlation_ratio"]
    assert corrected == ["joint", "joint_interactions", "mutual_information", "chi_square", *scored]


def test_what_is_published_comes_back(client, entry):
    head = client.publish(entry)
    assert (head.name, head.version, head.tenant, head.visibility) == (entry["name"], 1, "default", "private")
    assert client.summaries(head.id) == entry
    seen = client.entry(head.id)
    assert seen.digest == head.digest
    assert "histogram" not in json.dumps(seen.entry_schema)
    assert seen.entry_schema["configurations"] == entry["configurations"]


def test_bytes_are_published_as_they_are(client, entry):
    head = client.publish(json.dumps(entry, indent=3).encode())
    assert client.summaries(head.id) == entry


def test_a_name_is_taken_once(client, entry):
    head = client.publish(entry)
    with pytest.raises(ConflictError) as conflict:
        client.publish(entry)
    assert conflict.value.entry == head.id


def test_a_change_is_a_version_and_no_change_is_none(client, entry):
    head = client.publish(entry)
    assert client.update(head.id, entry | {"visibility": "all"}).version == 1
    tag = client.etag(head.id)
    changed = client.update(head.id, entry | {"title": "New"})
    assert (changed.version, changed.title) == (2, "New")
    assert client.entry(head.id, version=1).title == entry["title"]
    assert client.summaries(head.id, version=1) == entry
    with pytest.raises(PreconditionFailedError):
        client.update(head.id, entry, if_match=tag)


def test_entries_are_listed_over_all_pages_newest_first(client, entry):
    keyword = uuid4().hex
    names = [client.publish(entry | {"name": f"{entry['name']}-{i}", "keywords": [keyword]}).name for i in range(3)]
    assert [head.name for head in client.entries(keyword=keyword)] == names[::-1]
    assert [head.name for head in client.entries(query=names[1])] == [names[1]]
    assert list(client.entries(keyword=keyword, label="no such label")) == []
    assert len(list(client.entries(keyword=keyword, attribute="age", license=entry["license"], require={"k": 2}))) == 3
    assert list(client.entries(keyword=keyword, require={"k": 1e9})) == []


def test_visibility_changes_without_a_version(client, entry):
    head = client.publish(entry)
    changed = client.set_visibility(head.id, VisibleTo(tenants=["partner"]))
    assert (changed.version, changed.visibility.tenants) == (1, ["partner"])
    assert client.set_visibility(head.id, "all").visibility == "all"


def test_what_is_deleted_is_gone_and_its_name_free(client, entry):
    head = client.publish(entry)
    advice = client.advise(head.id, "g3")
    client.delete(head.id)
    for gone in (lambda: client.entry(head.id), lambda: client.advice(advice.id)):
        with pytest.raises(NotFoundError):
            gone()
    assert client.publish(entry).id != head.id


def test_advice_gives_the_papers_numbers(client, entry):
    head = client.publish(entry)
    for measure, utility in (("mutual_information", "0.4176"), ("chi_square", "58.63"), ("g3", "0.5900")):
        advice = client.advise(head.id, measure)
        assert (advice.status, advice.configuration, advice.ranking_basis) == ("succeeded", "c01", "exact")
        digits = len(utility.partition(".")[2])
        assert f"{advice.attributes[0].maskings['age-2'].utility:.{digits}f}" == utility
        assert client.advice(advice.id) == advice


def test_a_question_with_everything(client, entry):
    head = client.publish(entry)
    asked = {"attributes": ["age"], "weights": {"age": 2}, "require": {"k": 5}, "limit": None}
    advice = client.advise(head.id, "mutual_information", version=1, **asked)
    assert (advice.considered, advice.configuration) == (1, "c01")
    assert advice.request["require"] == {"k": 5.0}
    own = client.advise(head.id, "g3", reference="own", rounding_seed=7)
    assert own.ranking_basis == "estimated"


def test_a_question_that_nothing_is_left_for_says_how_many_fell(client, entry):
    head = client.publish(entry)
    with pytest.raises(InvalidError) as refusal:
        client.advise(head.id, "g3", require={"k": 50})
    assert refusal.value.code == "no_configuration_left"
    assert "2 do not promise k >= 50" in str(refusal.value)


def test_faults_come_with_their_pointers(client, entry):
    entry["attributes"][0]["maskings"][0]["joint"][1][2] = -1
    with pytest.raises(InvalidError) as refusal:
        client.publish(entry)
    assert [fault.pointer for fault in refusal.value.errors] == ["/attributes/0/maskings/0/joint/1/2"]


async def test_the_asynchronous_client_walks_the_same_way(url, entry):
    keyword, seen = uuid4().hex, []
    async with AsyncClient(url) as client:
        names = [f"{entry['name']}-{number}" for number in range(3)]
        heads = [await client.publish(entry | {"name": name, "keywords": [keyword]}) for name in names]
        assert [head.name async for head in client.entries(keyword=keyword)] == names[::-1]
        assert await client.summaries(heads[0].id) == entry | {"name": names[0], "keywords": [keyword]}
        advice = await client.advise(heads[0].id, "mutual_information", on_progress=seen.append)
        assert (advice.configuration, await client.advice(advice.id)) == ("c01", advice)
        asked = {"purpose": "a study", "contact": "me", "terms": heads[1].terms}
        request = await client.requests.create(heads[1].id, "mutual_information", **asked, wait=60)
        assert (request.state, request.configuration) == ("advised", "c01")
        assert (await client.requests.approve(request.id)).state == "approved"
        assert [one.id async for one in client.requests.list(entry_id=heads[1].id)] == [request.id]
        changed = await client.update(heads[2].id, entry | {"name": names[2], "title": "New"})
        assert (changed.version, (await client.entry(heads[2].id)).title) == (2, "New")
        await client.delete(heads[2].id)
        with pytest.raises(NotFoundError):
            await client.entry(heads[2].id)


async def test_pages_are_asked_for_one_after_the_other(url, entry, monkeypatch):
    monkeypatch.setattr("aegis_sdk._answers._LARGEST", "2")
    keyword, sent = uuid4().hex, []
    async with AsyncClient(url) as client:
        for number in range(5):
            await client.publish(entry | {"name": f"{entry['name']}-{number}", "keywords": [keyword]})
        client._http.event_hooks = {"request": [_noting(sent)]}
        assert len([head async for head in client.entries(keyword=keyword)]) == 5
    assert [request.url.params["limit"] for request in sent] == ["2"] * 3


def _noting(sent):
    async def note(request):
        sent.append(request)

    return note


def test_nobody_listens():
    with Client("http://127.0.0.1:9") as client, pytest.raises(ServiceUnreachableError):
        client.measures()


async def test_keys_open_what_their_roles_may(postgres, migrated, entry, monkeypatch):
    monkeypatch.setattr("aegis_sdk._sending._LONGEST_POLL", 0.01)
    database_url = as_role(create_database(postgres.url, f"keys_{uuid4().hex}", template=migrated), SERVICE)
    keys = {role: await create_key(database_url, "acme", role) for role in ("provider", "consumer")}
    secrets = {role: header["Authorization"].removeprefix("Bearer ") for role, header in keys.items()}
    with serving(database_url, worker=False, max_body_bytes="10000") as address:
        with Client(address, secrets["provider"]) as provider, Client(address, secrets["consumer"]) as consumer:
            head = provider.publish(entry, accept_small_counts=True)
            assert head.tenant == "acme"
            assert consumer.entry(head.id).id == head.id
            seen = []
            with pytest.raises(AdviceTimeoutError) as late:
                consumer.advise(head.id, "g3", wait=0.1, on_progress=seen.append)
            assert {advice.status for advice in seen} == {"queued"}
            assert consumer.advice(late.value.advice_id).status == "queued"
            with pytest.raises(TooLargeError):
                provider.publish(entry | {"description": "x" * 10_000})
        with Client(address, "aegis_00000000_wrong") as stranger, pytest.raises(UnauthorizedError):
            stranger.measures()
        drop_database(postgres.url, database_url.partition("?")[0].rpartition("/")[2])
        with Client(address, secrets["provider"]) as provider, pytest.raises(UnavailableError):
            provider.measures()
