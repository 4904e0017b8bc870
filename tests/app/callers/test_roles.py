"""Every route for every kind of caller, as in the table of docs/api.md."""

import re
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from aegis_sdk import wire
from app.dataspace.jobs import Messenger
from app.main import create_app
from app.platform.queue.queue import queue_app
from app.settings import Settings
from app.webhooks.jobs import EventSender
from tests.dataspace import message, new_pid
from tests.issuer import Issuer, running_issuer
from tests.kept import database_at
from tests.postgres import create_database, drop_database
from tests.service import ACCEPTED, AUDIT_KEY, Worker, create_key, example_entry, publish, running_app

DOCUMENT = Path(__file__).parents[3] / "docs" / "api.md"
VISIBILITY: Mapping[str, Any] = {
    "other, private": "private",
    "other, all": "all",
    "other, named": {"tenants": ["stranger"]},
}

#: Columns of the table that are of several callers.
COLUMNS = {
    "no valid key": ("no key", "unknown key", "expired key", "revoked key"),
    "other, visible": ("other, all", "other, named"),
}

REQUEST = {"measure": "g3", "purpose": "a study", "contact": "data@owner.example"}
LINK = {"url": "https://store.example/c01.csv"}
DELIVERY = LINK | {
    "media_type": "text/csv",
    "size": 100,
    "sha256": "0" * 64,
    "records": 100,
    "configuration": "c01",
    "privacy": {"k": 5},
}
VERDICT = {name: DELIVERY[name] for name in ("sha256", "size", "records", "privacy")}
ACTIONS: Mapping[str, Mapping[str, Any]] = {
    "approve": {},
    "decline": {"reason": "no"},
    "counter": {"configuration": "c02"},
    "accept": {},
    "deliver": DELIVERY,
    "relink": LINK,
    "receive": VERDICT,
    "dispute": VERDICT | {"reason": "no such table"},
    "withdraw": {},
    "end": {"reason": "over"},
}
#: What has to be done with a request before a step is possible.
PREPARED: Mapping[str, tuple[str, ...]] = {
    "accept": ("counter",),
    "deliver": ("approve",),
    "lease": ("approve",),
    **dict.fromkeys(("relink", "evidence", "receive", "dispute"), ("approve", "deliver")),
}
PREVIEW = "GET /v1/entries/{entry_id}/preview"
WEBHOOK = {"url": "https://hooks.example/", "events": ["entry.published"]}


def table() -> dict[str, dict[str, int]]:
    """Status by route and caller. A row can have several routes, a column several callers."""
    _, _, text = DOCUMENT.read_text(encoding="utf-8").partition("\n| Route ")
    lines = [line for line in f"| Route {text}".partition("\n\n")[0].splitlines() if line.startswith("| ")]
    header, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    callers = [COLUMNS.get(name, (name,)) for name in header[1:]]
    return {
        route: {caller: int(said) for of, said in zip(callers, statuses, strict=True) for caller in of}
        for routes, *statuses in rows
        for route in re.findall(r"`([^`]+)`", routes)
    }


TABLE = table()


@dataclass(frozen=True)
class Owned:
    """An entry of the tenant `owner` with an advice on it, and a consumer of this tenant."""

    api: httpx.AsyncClient
    messenger: Messenger
    owner: dict[str, str]
    consumer: dict[str, str]
    document: dict[str, Any]
    entry_id: str
    terms: str
    digest: str
    advice_id: str

    async def requested(self) -> str:
        """The id of a new request of the consumer for the entry."""
        path, asked = f"/v1/entries/{self.entry_id}/requests", REQUEST | {"terms": self.terms}
        return (await self.api.post(path, json=asked, headers=self.consumer)).json()["id"]


async def published(
    api: httpx.AsyncClient, messenger: Messenger, owner: dict[str, str], consumer: dict[str, str], visibility: Any
) -> Owned:
    document = example_entry(name=f"entry-{uuid4().hex}", visibility=visibility)
    head = await publish(api, document, **owner)
    path, headers = f"/v1/entries/{head['id']}/advice", owner | {"Prefer": "respond-async"}
    advice = await api.post(path, json={"measure": "g3"}, headers=headers)
    return Owned(
        api, messenger, owner, consumer, document, head["id"], head["terms"], head["digest"], advice.json()["id"]
    )


@dataclass(frozen=True)
class World:
    """Every kind of caller with what it sends, a key or a token, and the entry that they ask about."""

    headers: Mapping[str, Mapping[str, dict[str, str]]]
    entries: Mapping[str, Owned]


async def keys(database_url: str) -> dict[str, dict[str, str]]:
    stranger = await create_key(database_url, "stranger", "provider")
    return {
        "no key": {},
        "unknown key": {"Authorization": "Bearer aegis_00000000_nobody"},
        "expired key": await create_key(database_url, "owner", "provider", timedelta(seconds=-1)),
        "revoked key": await create_key(database_url, "owner", "provider", revoked=True),
        "consumer": await create_key(database_url, "owner", "consumer"),
        "provider": await create_key(database_url, "owner", "provider"),
        "reviewer": await create_key(database_url, "owner", "reviewer"),
        "administrator": await create_key(database_url, "owner", "administrator"),
        "operator": await create_key(database_url, "elsewhere", "operator"),
        "development": {},
    } | dict.fromkeys(VISIBILITY, stranger)


def tokens(issuer: Issuer) -> dict[str, dict[str, str]]:
    """The callers that a token can be of."""

    def bearing(**claims: Any) -> dict[str, str]:
        return {"Authorization": f"Bearer {issuer.token(**{'exp': time.time() + 3600} | claims)}"}

    stranger = bearing(tenant="stranger", scope="aegis:provide")
    return {
        "unknown key": bearing(headers={"kid": "unknown"}),
        "expired key": bearing(exp=time.time() - 3600),
        "consumer": bearing(tenant="owner", scope="aegis:consume"),
        "provider": bearing(tenant="owner", scope="aegis:provide"),
        "reviewer": bearing(tenant="owner", scope="aegis:review"),
        "administrator": bearing(tenant="owner", scope="aegis:administer"),
        "operator": bearing(tenant="elsewhere", scope="aegis:operate"),
    } | dict.fromkeys(VISIBILITY, stranger)


@pytest.fixture(scope="module")
async def world(postgres, migrated, shared_api, shared_database_url) -> AsyncIterator[World]:
    """A second service, on a database with keys; `shared_api` always stays in development mode."""
    guarded_url = create_database(postgres.url, "guarded", template=migrated)
    headers = await keys(guarded_url)
    async with AsyncExitStack() as stack:
        issuer = stack.enter_context(running_issuer())
        api = await stack.enter_async_context(
            running_app(guarded_url, oidc_issuer=issuer.url, wrong_keys=0, rate_limit=0, audit_key=AUDIT_KEY)
        )
        messengers = {
            one: Messenger(
                await stack.enter_async_context(database_at(one)), queue_app(one), EventSender(allow_private=True), None
            )
            for one in (guarded_url, shared_database_url)
        }
        owned = {
            visibility: await published(
                api,
                messengers[guarded_url],
                headers["provider"],
                headers["consumer"],
                VISIBILITY.get(visibility, "private"),
            )
            for visibility in ("private", *VISIBILITY)
        }
        entries = {caller: owned.get(caller, owned["private"]) for caller in headers}
        entries["development"] = await published(shared_api, messengers[shared_database_url], {}, {}, "private")
        for owned in entries.values():
            await owned.requested()
            await negotiated(owned)
        for url in (guarded_url, shared_database_url):  # later requests are then advised at once
            async with Worker.on(url) as worker:
                await worker.run()
        yield World({"key": headers, "token": tokens(issuer)}, entries)
    drop_database(postgres.url, "guarded")


async def test_every_route_of_the_application_has_its_row():
    app = create_app(Settings(database_url=None))
    paths = app.openapi()["paths"]
    routes = {f"{method.upper()} {path}" for path, operations in paths.items() for method in operations}
    assert routes == {" ".join(row.split()[:2]) for row in TABLE}
    actions = {row.split()[2] for row in TABLE if len(row.split()) > 2}
    assert actions == set(ACTIONS) == set(wire.RequestAction.model_json_schema()["discriminator"]["mapping"])


def test_no_route_is_hidden_from_the_openapi_document():
    app = create_app(Settings(database_url=None))
    hidden = [
        route.path
        for router in app.routes
        for route in getattr(getattr(router, "original_router", None), "routes", [])
        if not route.include_in_schema
    ]
    assert hidden == []


@pytest.mark.long
@pytest.mark.parametrize("sent", ["key", "token"])
async def test_the_statuses_are_the_table_s(world, sent):
    callers = list(world.headers[sent])  # a token cannot be missing or revoked
    things: dict[Any, str] = {}
    told = {(route, caller): await status(world, things, sent, route, caller) for route in TABLE for caller in callers}
    assert told == {(route, caller): TABLE[route][caller] for route, caller in told}


async def status(world: World, things: dict[Any, str], sent: str, route: str, caller: str) -> int:
    """What a caller is answered. Each thing that it asks about serves until an answer may have changed it."""
    (method, path, *action), owned = route.split(), world.entries[caller]
    if method == "DELETE" and "{entry_id}" in path:
        owned = await published(owned.api, owned.messenger, owned.owner, owned.consumer, owned.document["visibility"])
    about = "the tenant's only one" if "{webhook_id}" in path or "{search_id}" in path else owned.entry_id
    kept = caller == "development", about, path, *action
    if kept not in things and "{" in path:
        things[kept] = await address(world, owned, caller, path, *action)
    if path == f"{DSP}/transfers/request":
        await agreed(owned, await negotiated(owned))
    path = things.get(kept, path)
    headers = world.headers[sent][caller] | {"If-Match": "*", "Prefer": "respond-async"}
    if path.endswith("/sign-off"):
        read = await owned.api.get(f"/v1/entries/{owned.entry_id}", headers=owned.owner)
        headers["If-Match"] = read.headers["ETag"]
    params = {"POST /v1/entries": ACCEPTED, PREVIEW: {"configuration": "c01"}}.get(route)
    asked = {"action": action[0]} | ACTIONS[action[0]] if action else body(route, owned)
    if action == ["deliver"]:
        asked["entry_digest"] = owned.digest
    if path.startswith("/dsp/") and method == "POST":
        asked = spoken(path, things[kept] if "{" in route else "", owned)
    answer = await owned.api.request(method, path, headers=headers, json=asked, params=params)
    challenged = answer.headers.get("WWW-Authenticate", "").startswith("Bearer")
    assert challenged == (answer.status_code == 401), (route, caller)
    if answer.is_success and method != "GET":
        things.pop(kept, None)
    return answer.status_code


async def address(world: World, owned: Owned, caller: str, path: str, action: str | None = None) -> str:
    """A path with the ids of things that are there; those that a request may change are new."""
    if "{prefix}" in path:
        path = path.format(prefix=await created_key(world, caller))
    if "{webhook_id}" in path:
        path = path.format(webhook_id=await created_webhook(world, caller))
    if "{search_id}" in path:
        path = path.format(search_id=await created_webhook(world, caller, "/v1/searches", {}))
    if "{request_id}" in path:
        path = path.replace("{request_id}", await created_request(owned, action or path.rpartition("/")[2]))
    if "{process_id}" in path:
        path = path.replace("{process_id}", await created_process(owned, path))
    path = path.replace("{dataset_id}", owned.entry_id)
    return path.format(entry_id=owned.entry_id, advice_id=owned.advice_id, lease_id=uuid4())


async def created_webhook(world: World, caller: str, path: str = "/v1/webhooks", asked: Any = WEBHOOK) -> str:
    """The id of a new webhook of the tenant whose entry the caller asks about, instead of all that it had."""
    api, tenant = world.entries[caller].api, "default" if caller == "development" else "owner"
    headers = world.headers["key"]["development" if caller == "development" else "operator"]
    listed = await api.get(path, params={"tenant": tenant}, headers=headers)
    for webhook in listed.json()["items"]:
        await api.delete(f"{path}/{webhook['id']}", headers=headers)
    answer = await api.post(path, json=asked | {"tenant": tenant}, headers=headers)
    return str(answer.json()["id"])


async def created_request(owned: Owned, step: str) -> str:
    """The id of a new request of the entry's own tenant, in a state in which a step is possible."""
    request_id = await owned.requested()
    for action in PREPARED.get(step, ()):
        said = {"action": action} | ACTIONS[action] | ({"entry_digest": owned.digest} if action == "deliver" else {})
        answer = await owned.api.post(f"/v1/requests/{request_id}/actions", json=said, headers=owned.owner)
        assert answer.status_code == 200, answer.text
    return request_id


#: The consumer's own ids of processes.
PIDS: dict[str, str] = {}

DSP = "/dsp/2025-1"

#: The messages to processes, by the ends of their paths.
MESSAGES = {
    "negotiations/request": "ContractRequestMessage",
    "request": "ContractRequestMessage",
    "events": "ContractNegotiationEventMessage",
    "agreement/verification": "ContractAgreementVerificationMessage",
    "negotiations/termination": "ContractNegotiationTerminationMessage",
    "start": "TransferStartMessage",
    "suspension": "TransferSuspensionMessage",
    "completion": "TransferCompletionMessage",
    "transfers/termination": "TransferTerminationMessage",
}


def spoken(path: str, addressed: str, owned: Owned) -> dict[str, Any]:
    """A message of the Dataspace Protocol to a path, which may address a process."""
    if path.endswith("catalog/request"):
        return message("CatalogRequestMessage")
    kind, *rest = path.removeprefix(f"{DSP}/").split("/")
    offer = {"@id": f"urn:aegis:offer:{owned.entry_id}:1:c01", "@type": "Offer", "permission": [{"action": "use"}]}
    if not addressed:
        new = {"consumerPid": new_pid(), "callbackAddress": "urn:aegis:poll"}
        if kind == "negotiations":
            return message("ContractRequestMessage", **new, offer=offer)
        return message("TransferRequestMessage", **new, format="HttpData-PULL", agreementId=AGREEMENTS[owned.entry_id])
    process_id, *end = rest
    ending = "/".join(end)
    sent = message(MESSAGES.get(ending) or MESSAGES[f"{kind}/{ending}"])
    sent |= {"providerPid": process_id, "consumerPid": PIDS[process_id]}
    return sent | {"request": {"offer": offer}, "events": {"eventType": "ACCEPTED"}}.get(ending, {})


async def created_process(owned: Owned, path: str) -> str:
    """The id of a new process of the entry's own tenant, in a state in which a message to a path is possible."""
    kind, _, *end = path.removeprefix(f"{DSP}/").split("/")
    ending = "/".join(end)
    process_id = await negotiated(owned)
    if kind == "negotiations":
        steps = {"request": "counter", "events": "counter", "agreement/verification": "approve"}
        return await acted(owned, process_id, *([steps[ending]] if ending in steps else []))
    await agreed(owned, process_id)
    transfer_id = await begun(owned, f"{DSP}/transfers/request")
    if ending in ("start", "suspension", "completion"):
        await acted(owned, process_id, "deliver")
    if ending == "start":
        await told(owned, f"{DSP}/transfers/{transfer_id}/suspension")
    return transfer_id


async def negotiated(owned: Owned) -> str:
    """The id of a new negotiation, whose agreement is the one for transfers from now on."""
    process_id = await begun(owned, f"{DSP}/negotiations/request")
    AGREEMENTS[owned.entry_id] = f"urn:aegis:agreement:{process_id}"
    return process_id


#: By entry, the id of the agreement of its last negotiation.
AGREEMENTS: dict[str, str] = {}


async def begun(owned: Owned, path: str) -> str:
    sent = spoken(path, "", owned)
    answer = await owned.api.post(path, json=sent, headers=owned.consumer)
    assert answer.status_code == 201, answer.text
    process_id = str(answer.json()["providerPid"]).removeprefix("urn:uuid:")
    PIDS[process_id] = sent["consumerPid"]
    return process_id


async def told(owned: Owned, path: str) -> None:
    answer = await owned.api.post(path, json=spoken(path, path, owned), headers=owned.consumer)
    assert answer.status_code == 200, answer.text
    await sent_all(owned)


async def acted(owned: Owned, process_id: str, *actions: str) -> str:
    """The id of a negotiation, about whose request the provider has acted."""
    for action in actions:
        listed = await owned.api.get("/v1/requests", params={"entry": owned.entry_id, "limit": 1}, headers=owned.owner)
        said = {"action": action} | ACTIONS[action] | ({"entry_digest": owned.digest} if action == "deliver" else {})
        path = f"/v1/requests/{listed.json()['items'][0]['id']}/actions"
        answer = await owned.api.post(path, json=said, headers=owned.owner)
        assert answer.status_code == 200, answer.text
        await sent_all(owned)
    return process_id


async def sent_all(owned: Owned) -> None:
    """Send all that is due; of a tenant, one message at a time goes out."""
    for _ in range(5):
        await owned.messenger.run_once()


async def agreed(owned: Owned, process_id: str) -> None:
    await acted(owned, process_id, "approve")
    await told(owned, f"{DSP}/negotiations/{process_id}/agreement/verification")


async def created_key(world: World, caller: str) -> str:
    """The prefix of a new key of the tenant whose entry the caller asks about."""
    api, tenant = world.entries[caller].api, "default" if caller == "development" else "owner"
    headers = world.headers["key"]["development" if caller == "development" else "operator"]
    answer = await api.post("/v1/keys", json={"role": "consumer", "tenant": tenant}, headers=headers)
    return answer.json()["prefix"]


def body(route: str, owned: Owned) -> Any:
    """A valid body for the route, None if it takes none."""
    return {
        "POST /v1/entries": example_entry(name=f"entry-{uuid4().hex}"),
        "PUT /v1/entries/{entry_id}": owned.document,
        "PATCH /v1/entries/{entry_id}": {"visibility": owned.document["visibility"]},
        "POST /v1/entries/{entry_id}/advice": {"measure": "chi_square"},
        "POST /v1/entries/{entry_id}/requests": REQUEST | {"terms": owned.terms},
        "POST /v1/requests/{request_id}/lease": {},
        "POST /v1/keys": {"role": "consumer"},
        "POST /v1/keys/{prefix}/successor": {},
        "PUT /v1/policy": {},
        "PUT /v1/quota": {},
        "POST /v1/searches": {},
        "POST /v1/webhooks": WEBHOOK,
        "PATCH /v1/webhooks/{webhook_id}": {"enabled": True},
        "POST /v1/webhooks/{webhook_id}/secret": {},
    }.get(route)
