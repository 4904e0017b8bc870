"""Somebody of each role before the pages of one tenant's private entry, for tests that walk all routes."""

import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from html import unescape
from secrets import token_urlsafe
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx

from app.audit.model import START
from app.console import registry
from app.requests.pages.data_requests import STEPS
from tests.console import Browser, browsing
from tests.service import AUDIT_KEY, Worker, create_key, example_entry, publish

#: Who is of which tenant and has which role. The entry is of the tenant `owner`.
PEOPLE: Mapping[str, tuple[str, str]] = {
    "consumer": ("owner", "consumer"),
    "provider": ("owner", "provider"),
    "reviewer": ("owner", "reviewer"),
    "administrator": ("owner", "administrator"),
    "operator": ("elsewhere", "operator"),
    "other": ("stranger", "provider"),
}

#: What has to be done with a request before a step is possible.
_PREPARED: Mapping[str, tuple[str, dict[str, Any]]] = {"accept": ("counter", {"configuration": "c02"})}

_QUESTION = {"measure": "g3"}
_SAID = {"purpose": "a study", "contact": "data@owner.example"}


def routes() -> list[str]:
    """Every route of the console, such as `GET /entries/{entry_id}`; a route of actions is one for each of them."""
    found = [
        f"{method} {route.path}"
        for router in registry.ROUTERS
        for route in router.routes
        for method in sorted(route.methods)
    ]
    return [one.replace("{action}", step) for one in found for step in (STEPS if "{action}" in one else ("",))]


@dataclass(frozen=True)
class Stage:
    """An entry with an advice, and people who open pages and send forms about it.

    Attributes:
        tenant: whose entry it is.
        api: calls the API as this tenant's provider.
        people: a browser for each, in which it is signed in.
        keys: the headers by which each of them calls the API.
        nobody: a browser in which nobody is signed in.
        document: the entry.
        head: likewise, as the API reads it.
        advice_id: an advice on it, asked by its provider.
    """

    tenant: str
    api: httpx.AsyncClient
    people: Mapping[str, Browser]
    keys: Mapping[str, dict[str, str]]
    nobody: Browser
    document: dict[str, Any]
    head: dict[str, Any]
    advice_id: str

    @property
    def owner(self) -> Browser:
        """The browser of the entry's provider."""
        return self.people["provider"]

    def browser(self, who: str) -> Browser:
        """The browser of one of the people, or one in which nobody is signed in."""
        return self.people[who] if who in self.people else self.nobody.another()

    async def call(self, method: str, path: str, who: str = "provider", **sent: Any) -> Any:
        """What the API answers somebody."""
        headers = {"Accept": "application/json", **self.keys[who]}
        answer = await self.api.request(method, path, headers=headers, **sent)
        assert answer.is_success, answer.text
        return answer.json()

    async def new_entry(self) -> dict[str, Any]:
        """The head of another entry of the same tenant."""
        return await publish(self.api, self.document | {"name": f"entry-{uuid4().hex}"}, **self.keys["provider"])

    async def new_request(self, step: str = "") -> str:
        """The id of a request of a consumer of the entry's tenant, in a state in which the step is possible."""
        asked = _QUESTION | _SAID | {"terms": self.head["terms"]}
        made = await self.call("POST", f"/v1/entries/{self.head['id']}/requests", "consumer", json=asked)
        if step in _PREPARED:
            first, body = _PREPARED[step]
            await self.call("POST", f"/v1/requests/{made['id']}/actions", json={"action": first} | body)
        return str(made["id"])

    async def new_key(self) -> str:
        """The prefix of a new key of the entry's tenant."""
        made = await self.call("POST", "/v1/keys", "operator", json={"role": "consumer", "tenant": self.tenant})
        return str(made["prefix"])

    async def address(self, route: str) -> str:
        """An address of a route, of something of the entry's tenant; of something new if the route changes it."""
        method, path = route.split()
        is_changed = method == "POST" and "{entry_id}" in path and not path.endswith("/ask")
        head = await self.new_entry() if is_changed else self.head
        values = {"entry_id": head["id"], "advice_id": self.advice_id, "tenant": self.tenant, "name": "console.css"}
        values |= {"attribute": quote(self.document["attributes"][0]["name"], safe="")}
        if "{request_id}" in path:
            values["request_id"] = await self.new_request(path.rpartition("/")[2])
        if "{prefix}" in path:
            values["prefix"] = await self.new_key()
        return path.format(**values) + _QUERIES.get(route, "").format(**values)

    async def form(self, route: str, address: str) -> dict[str, str]:
        """The fields of the route's form, filled in correctly, but for `csrf`."""
        once = {"once": token_urlsafe(24)}
        if route.startswith("POST /requests/{request_id}/"):
            return once | {"reason": "so", "configuration": "c02"}
        if route.startswith("POST /entries/{entry_id}/"):
            page = await self.owner.get(address.rpartition("/")[0] + "/delete")
            return {"version": "1", "state": hidden(page)["state"], "audience": "private"} | _QUESTION
        if route == "POST /publish/confirm":
            checked = await self.send("provider", "POST /publish", "/publish", {})
            return {"document": hidden(checked)["document"], "audience": "private", "accept_small_counts": "on"}
        if route == "POST /requests/new":
            head = {"entry": self.head["id"], "version": "1", "terms": self.head["terms"], "accept": "yes"}
            return once | _QUESTION | _SAID | head
        key = self.keys["consumer"].get("Authorization", "").rpartition(" ")[2]
        reached = {"after": "0", "hash": START.hash, "signed": "0"}
        return (
            once
            | reached
            | {"tenant": self.tenant, "role": "consumer", "expires_days": "9", "overlap_hours": "1", "key": key}
        )

    async def send(self, who: str, route: str, path: str, fields: dict[str, str], **headers: str) -> httpx.Response:
        """Send a form as one of the people, or as nobody, does from an own page; `csrf` is that of its page."""
        browser = self.browser(who)
        about = {"Origin": browser.origin, **headers}
        fields = {"csrf": await self.csrf(who)} | fields
        files = {"entry": ("entry.json", json.dumps(example_entry(name=f"entry-{uuid4().hex}")).encode())}
        sent: dict[str, Any] = {"files": files} if route == "POST /publish" else {}
        return await browser.client.post(path, data=fields, headers=about, **sent)

    async def csrf(self, who: str) -> str:
        """What the forms of somebody's pages have."""
        return hidden(await self.people[who].get("/session")).get("csrf", "") if who in self.people else ""


_QUERIES: Mapping[str, str] = {
    "GET /entries/{entry_id}/attribute": "?name={attribute}",
    "GET /entries/{entry_id}/configuration": "?place=0",
    "GET /entries/{entry_id}/counts": "?attribute={attribute}",
    "GET /requests/new": "?entry={entry_id}",
    "GET /publish": "?version_of={entry_id}",
}


def hidden(answer: httpx.Response) -> dict[str, str]:
    """The hidden fields of the forms of a page."""
    fields = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', answer.text)
    return {name: unescape(text) for name, text in fields}


@asynccontextmanager
async def stage_with_keys(
    database_url: str, names: Mapping[str, str] | None = None, document: Any = None, **settings: Any
) -> AsyncIterator[Stage]:
    """A service with keys, and everybody signed in; `names`: other ones of the tenants."""
    named = {tenant: (names or {}).get(tenant, tenant) for tenant, _ in PEOPLE.values()}
    keys = {who: await create_key(database_url, named[tenant], role) for who, (tenant, role) in PEOPLE.items()}
    limits: dict[str, Any] = {"wrong_keys": 0, "rate_limit": 0, "audit_key": AUDIT_KEY}
    async with browsing(database_url, **limits | settings) as first:
        people = {who: first.another() for who in PEOPLE}
        for who, browser in people.items():
            assert (await browser.sign_in(keys[who])).status_code == 303
        yield await _set(database_url, named["owner"], first.another().client, people, keys, first, document)


@asynccontextmanager
async def stage_in_development(database_url: str, **settings: Any) -> AsyncIterator[Stage]:
    """A service in development mode, where everybody may do everything."""
    async with browsing(database_url, "http://127.0.0.1", audit_key=AUDIT_KEY, **settings) as browser:
        people = dict.fromkeys(PEOPLE, browser)
        keys: dict[str, dict[str, str]] = {who: {} for who in PEOPLE}
        yield await _set(database_url, "default", browser.another().client, people, keys, browser)


async def _set(
    database_url: str,
    tenant: str,
    api: httpx.AsyncClient,
    people: Mapping[str, Browser],
    keys: Mapping[str, dict[str, str]],
    nobody: Browser,
    document: Any = None,
) -> Stage:
    """The stage, with its entry. Its requests are advised at once, since one was before."""
    document = document or example_entry(name=f"entry-{uuid4().hex}")
    head = await publish(api, document, **keys["provider"])
    headers = {"Prefer": "respond-async", **keys["provider"]}
    advice = await api.post(f"/v1/entries/{head['id']}/advice", json=_QUESTION, headers=headers)
    stage = Stage(tenant, api, people, keys, nobody, document, head, advice.json()["id"])
    await stage.new_request()
    async with Worker.on(database_url) as worker:
        await worker.run()
    return stage
