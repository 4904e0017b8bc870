"""What webhooks are told, and that they are told nothing that the consumers of their tenant may not read."""

import json
from pathlib import Path

import jsonschema_rs
import psycopg
import pytest
from sqlalchemy import select

from app.advice.service.advice_input import RecentInputs
from app.advice.tables import AdviceRow
from app.factory import Factory
from app.platform.queue.model import Problem
from app.tenants.model import TenantPolicy
from app.webhooks.model import EVENT_TYPES, PING
from tests.answers import document, hold_event
from tests.app.worker.database import rows
from tests.service import ACCEPTED, create_key, example_entry, publish, running_app, tenants_of

TENANTS = ("owner", "insurer", "stranger")


@pytest.fixture
def database_url(shared_database_url):
    """One database for all tests of this file, without what the one before has published."""
    yield shared_database_url
    with psycopg.connect(shared_database_url, autocommit=True) as connection:
        for table in ("entry", "waiting_job", "procrastinate_jobs"):
            connection.execute(f"DELETE FROM {table}")
        connection.execute("UPDATE tenant SET demands_sign_off = false")


@pytest.fixture(scope="module")
async def keys(_one_loop, shared_database_url):
    """An owner with a provider and a reviewer, and two other tenants with a consumer each."""
    own = {role: await create_key(shared_database_url, "owner", role) for role in ("provider", "reviewer")}
    return own | {
        "insurer": await create_key(shared_database_url, "insurer", "consumer"),
        "stranger": await create_key(shared_database_url, "stranger", "consumer"),
        "operator": await create_key(shared_database_url, "elsewhere", "operator"),
    }


@pytest.fixture(scope="module")
async def guarded(shared_database_url, keys):
    """A service where each tenant has a webhook for all events."""
    async with running_app(shared_database_url) as api:
        for tenant in (*TENANTS, "elsewhere"):
            asked = {"url": f"https://{tenant}.example/", "events": list(EVENT_TYPES), "tenant": tenant}
            answer = await api.post("/v1/webhooks", json=asked, headers=keys["operator"])
            assert answer.status_code == 201
        yield api


@pytest.fixture
def told(database_url):
    """What each tenant has been told since the last call: (tenant, type, data)."""
    seen = {one for (one,) in rows(database_url, "SELECT id FROM delivery")}

    def new():
        found = rows(
            database_url,
            "SELECT delivery.id, tenant.name, type, data FROM delivery JOIN webhook ON webhook.id = webhook_id "
            "JOIN tenant ON tenant.id = tenant_id ORDER BY delivery.created_at, tenant.name",
        )
        fresh = [row for row in found if row[0] not in seen]
        seen.update(row[0] for row in fresh)
        for _, _, event, data in fresh:
            hold_event({"type": event, "timestamp": "2026-03-01T12:05:00Z", "data": data})
        return [row[1:] for row in fresh]

    return new


def types(events):
    return sorted((tenant, event) for tenant, event, _ in events)


def to(event, *tenants):
    return sorted((tenant, event) for tenant in tenants)


async def replaced(api, head, key, visibility="all", **changes):
    document = example_entry(name=head["name"], visibility=visibility, **changes)
    path, headers = f"/v1/entries/{head['id']}", key | {"If-Match": "*"}
    answer = await api.put(path, json=document, headers=headers, params=ACCEPTED)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def seen_by(api, head, key):
    return (await api.get(f"/v1/entries/{head['id']}", headers=key)).json()


@pytest.mark.parametrize(
    ("visibility", "tenants"),
    [
        ("private", ["owner"]),
        ("all", ["owner", "insurer", "stranger", "elsewhere"]),
        ({"tenants": ["insurer"]}, ["owner", "insurer"]),
    ],
    ids=str,
)
async def test_a_new_entry_is_told_to_those_who_see_it(guarded, keys, told, visibility, tenants):
    head = await publish(guarded, example_entry(visibility=visibility), **keys["provider"])
    events = told()
    assert types(events) == to("entry.published", *tenants)
    for _, _, data in events:
        digest = data["entry"].pop("digest")
        assert data == {"entry": {"id": head["id"], "name": head["name"], "tenant": "owner", "version": 1}}
        assert digest != head["digest"]  # it would confirm guesses of the counts
        if visibility == "all":
            assert digest == (await seen_by(guarded, head, keys["insurer"]))["digest"]


async def test_the_same_content_again_is_no_event(guarded, keys, told):
    head = await publish(guarded, example_entry(visibility="all"), **keys["provider"])
    told()
    await replaced(guarded, head, keys["provider"])
    assert told() == []


async def test_a_version_is_told_when_it_is_signed_off(guarded, keys, told, database_url):
    async with tenants_of(database_url) as tenants:
        await tenants.set_policy("owner", TenantPolicy(demands_sign_off=True))
    head = await publish(guarded, example_entry(visibility="all"), **keys["provider"])
    path = f"/v1/entries/{head['id']}"
    assert told() == []
    read = await guarded.get(path, headers=keys["reviewer"])
    for _ in range(2):  # again changes nothing
        signed = await guarded.put(f"{path}/sign-off", headers=keys["reviewer"] | {"If-Match": read.headers["ETag"]})
        assert signed.status_code == 200
    assert types(told()) == to("entry.published", *TENANTS, "elsewhere")
    await replaced(guarded, head, keys["provider"], title="second")
    assert told() == []


async def test_who_sees_an_entry_for_the_first_time_is_told(guarded, keys, told):
    head = await publish(guarded, example_entry(visibility={"tenants": ["insurer"]}), **keys["provider"])
    told()
    path = f"/v1/entries/{head['id']}"
    # Who is told that it is there, that it has changed, and that it is gone.
    steps: list[tuple[object, list[str], list[str], list[str]]] = [
        ("all", ["stranger", "elsewhere"], ["owner", "insurer"], []),
        ("all", [], [], []),
        ({"tenants": ["insurer"]}, [], ["owner", "insurer"], ["stranger", "elsewhere"]),
        ("private", [], ["owner"], ["insurer"]),
        ({"tenants": ["stranger"]}, ["stranger"], ["owner"], []),
        ({"tenants": ["insurer"]}, ["insurer"], ["owner"], ["stranger"]),
    ]
    for visibility, published, changed, withdrawn in steps:
        await guarded.patch(path, json={"visibility": visibility}, headers=keys["provider"])
        events = told()
        expected = to("entry.published", *published) + to("entry.changed", *changed)
        assert types(events) == sorted(expected + to("entry.withdrawn", *withdrawn)), visibility
        assert {data["entry"]["id"] for _, _, data in events} <= {head["id"]}


async def test_who_saw_an_entry_is_told_of_its_deletion(guarded, keys, told, database_url):
    head = await publish(guarded, example_entry(visibility={"tenants": ["insurer"]}), **keys["provider"])
    seen = await seen_by(guarded, head, keys["insurer"])
    told()
    assert (await guarded.delete(f"/v1/entries/{head['id']}", headers=keys["provider"])).status_code == 204
    events = told()
    assert types(events) == to("entry.withdrawn", "insurer", "owner")
    entry = {name: seen[name] for name in ("id", "name", "tenant", "version", "digest")}
    assert [data for tenant, _, data in events if tenant == "insurer"] == [{"entry": entry}]
    async with tenants_of(database_url) as tenants:
        await tenants.set_policy("owner", TenantPolicy(demands_sign_off=True))
    unseen = await publish(guarded, example_entry(visibility="all"), **keys["provider"])
    await guarded.delete(f"/v1/entries/{unseen['id']}", headers=keys["provider"])
    assert told() == []


async def test_a_change_of_visibility_tells_nothing_of_a_version_that_waits(guarded, keys, told, database_url):
    async with tenants_of(database_url) as tenants:
        await tenants.set_policy("owner", TenantPolicy(demands_sign_off=True))
    head = await publish(guarded, example_entry(), **keys["provider"])
    await guarded.patch(f"/v1/entries/{head['id']}", json={"visibility": "all"}, headers=keys["provider"])
    assert told() == []


async def test_both_sides_of_a_request_for_data_are_told_of_each_change(guarded, keys, told):
    head = await publish(guarded, example_entry(visibility="all"), **keys["provider"])
    told()
    asked = {"measure": "g3", "purpose": "a study", "contact": "me", "terms": head["terms"]}
    made = await guarded.post(f"/v1/entries/{head['id']}/requests", json=asked, headers=keys["insurer"])
    request_id = made.json()["id"]
    await guarded.post(f"/v1/requests/{request_id}/actions", json={"action": "withdraw"}, headers=keys["insurer"])
    events = told()
    assert types(events) == to("request.changed", "insurer", "insurer", "owner", "owner")
    seen = await seen_by(guarded, head, keys["insurer"])
    entry = {name: seen[name] for name in ("id", "name", "tenant", "version", "digest")}
    said = [{"entry": entry, "request": {"id": request_id, "state": one}} for one in ("requested", "withdrawn")]
    assert [data for tenant, _, data in events if tenant == "owner"] == said


async def test_who_asked_about_an_older_version_is_told_of_a_newer_one(guarded, keys, told, database_url):
    head = await publish(guarded, example_entry(visibility="all"), **keys["provider"])
    asked = {"json": {"measure": "g3"}, "headers": keys["insurer"] | {"Prefer": "respond-async"}}
    assert (await guarded.post(f"/v1/entries/{head['id']}/advice", **asked)).status_code == 202
    told()
    second = await replaced(guarded, head, keys["provider"], title="second")
    events = told()
    assert types(events) == sorted(to("entry.published", *TENANTS, "elsewhere") + to("advice.stale", "insurer"))
    (stale,) = [data for _, event, data in events if event == "advice.stale"]
    consumer = await seen_by(guarded, head, keys["insurer"])
    entry = {"id": head["id"], "name": head["name"], "tenant": "owner", "version": 2, "digest": consumer["digest"]}
    assert stale == {"entry": entry, "versions": [1]}
    assert second["digest"] not in json.dumps(stale)
    async with tenants_of(database_url) as tenants:
        await tenants.set_policy("owner", TenantPolicy(demands_sign_off=True))
    await replaced(guarded, head, keys["provider"], title="third")
    assert told() == []


async def test_a_hidden_entry_makes_no_advice_stale(guarded, keys, told):
    head = await publish(guarded, example_entry(visibility="all"), **keys["provider"])
    asked = {"json": {"measure": "g3"}, "headers": keys["insurer"] | {"Prefer": "respond-async"}}
    await guarded.post(f"/v1/entries/{head['id']}/advice", **asked)
    await guarded.patch(f"/v1/entries/{head['id']}", json={"visibility": "private"}, headers=keys["provider"])
    told()
    await replaced(guarded, head, keys["provider"], visibility="private", title="second")
    assert types(told()) == to("entry.published", "owner")
    await guarded.patch(f"/v1/entries/{head['id']}", json={"visibility": "all"}, headers=keys["provider"])
    assert types(told()).count(("insurer", "advice.stale")) == 1


async def test_an_answer_is_told_to_those_who_asked_once(guarded, keys, told, worker):
    head = await publish(guarded, example_entry(visibility="all"), **keys["provider"])
    told()
    asked = {}
    for who in ("insurer", "provider"):
        answer = await guarded.post(
            f"/v1/entries/{head['id']}/advice",
            json={"measure": "mutual_information"},
            headers=keys[who] | {"Prefer": "respond-async"},
        )
        asked[who] = answer.json()["id"]
    await worker.run()
    events = told()
    assert types(events) == to("advice.succeeded", "insurer", "owner")
    by_tenant = {tenant: data["advice"] for tenant, _, data in events}
    assert by_tenant == {"insurer": {"id": asked["insurer"]}, "owner": {"id": asked["provider"]}}
    assert {tuple(data) for _, _, data in events} == {("entry", "advice")}
    answer = await guarded.get(f"/v1/advice/{asked['insurer']}", headers=keys["insurer"])
    assert answer.json()["status"] == "succeeded"


async def test_a_failure_is_told_and_no_reason(guarded, keys, told, database, worker):
    head = await publish(guarded, example_entry(visibility="all"), **keys["provider"])
    told()
    asked = {"json": {"measure": "g3"}, "headers": keys["insurer"] | {"Prefer": "respond-async"}}
    question = (await guarded.post(f"/v1/entries/{head['id']}/advice", **asked)).json()["id"]
    async with database.transaction() as session:
        (advice_id,) = (await session.execute(select(AdviceRow.id))).scalars()
        work = Factory(session, worker.queue).advice_work(RecentInputs())
        await work.fail(str(advice_id), Problem("internal", "It failed."))
    ((tenant, event, data),) = told()
    assert (tenant, event, data["advice"]) == ("insurer", "advice.failed", {"id": question})
    assert "internal" not in json.dumps(data)


async def test_an_event_is_stored_with_what_has_happened_or_not_at_all(guarded, keys, told):
    refused = await guarded.post("/v1/entries", json=example_entry(), headers=keys["provider"])
    assert (refused.status_code, told()) == (422, [])


async def test_a_webhook_gets_only_what_it_asks_for(guarded, keys, database_url):
    asked = {"url": "https://a.example/", "tenant": "picky"}
    picky = await guarded.post("/v1/webhooks", json=asked | {"events": ["advice.stale"]}, headers=keys["operator"])
    off = await guarded.post("/v1/webhooks", json=asked | {"events": list(EVENT_TYPES)}, headers=keys["operator"])
    path = f"/v1/webhooks/{off.json()['id']}"
    await guarded.patch(path, json={"enabled": False}, headers=keys["operator"])
    await publish(guarded, example_entry(visibility="all"), **keys["provider"])
    ids = [picky.json()["id"], off.json()["id"]]
    assert rows(database_url, "SELECT 1 FROM delivery WHERE webhook_id::text = ANY(%s)", ids) == []
    await guarded.patch(path, json={"enabled": True}, headers=keys["operator"])
    await publish(guarded, example_entry(name="second", visibility="all"), **keys["provider"])
    assert rows(database_url, "SELECT webhook_id::text FROM delivery WHERE webhook_id::text = ANY(%s)", ids) == [
        (ids[1],)
    ]
    for webhook_id in ids:
        await guarded.delete(f"/v1/webhooks/{webhook_id}", headers=keys["operator"])


def test_an_event_that_is_not_as_described_is_noticed():
    (example,) = document()["components"]["schemas"]["EntryEvent"]["examples"]
    hold_event(example)
    data = example["data"]
    wrong = [
        *({"data": {"entry": data["entry"] | change}} for change in ({"id": "x"}, {"version": "1"}, {"counts": [1]})),
        {"data": {}},
        {"data": data | {"versions": [1]}},
        {"timestamp": "yesterday"},
        {"type": "ping"},
    ]
    for change in wrong:
        with pytest.raises(jsonschema_rs.ValidationError):
            hold_event(example | change)


def test_the_document_lists_the_events():
    text = (Path(__file__).parents[3] / "docs" / "api.md").read_text(encoding="utf-8")
    table = text.partition("\nevent | when | `data`\n")[2].partition("\n\n")[0].splitlines()[1:]
    said = {cells[0].strip("` "): cells[1].strip() for cells in (line.split(" | ") for line in table)}
    assert set(said) == {*EVENT_TYPES, PING}
    assert all(said[name].startswith(when) for name, when in EVENT_TYPES.items())
