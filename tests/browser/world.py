"""The contents for the sweep of all pages, made by the API: people, entries, and requests in every state."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx
from playwright.async_api import Page

from aegis_sdk import Client
from tests.app.advice.test_views import two_attributes
from tests.app.requests.test_verifications import AGREES, DELIVERED, DIFFERS
from tests.browser.services import OPERATOR, RunningService
from tests.generated import mixed_entry
from tests.labels import LABELS, entry_of, some_records
from tests.service import ACCEPTED, example_entry

#: A text that providers and consumers may write: script, both directions, characters beyond 16 bits, and a long word.
HOSTILE = f"<script>alert(1)</script>\"'&\u202e\N{GRINNING FACE} שלום עולם {'W' * 120}"

WHO = {
    "provider": ("clinic", "provider"),
    "consumer": ("lab", "consumer"),
    "administrator": ("clinic", "administrator"),
    "operator": OPERATOR,
}

_ASKED = {"measure": "mutual_information", "require": {"k": 5}}
_PRIVACY = ({"k": 5, "t": 0.2}, {"k": 5}, {"k": 8, "t": 0.1}, {"k": 50})

#: The steps from a new request to a state: caller, action and body.
_STEPS: Mapping[str, tuple[tuple[str, str, dict[str, Any]], ...]] = {
    "advised": (),
    "approved": (("provider", "approve", {"reason": "The ethics board has agreed"}),),
    "countered": (("provider", "counter", {"configuration": "c3", "reason": "k = 50"}),),
    "declined": (("provider", "decline", {"reason": "Not for this purpose"}),),
    "forgotten": (),
    "withdrawn": (("consumer", "withdraw", {}),),
    "ended": (("operator", "end", {"reason": "Both have left"}),),
    "delivered": (("provider", "approve", {}), ("provider", "deliver", DELIVERED)),
    "received": (("provider", "approve", {}), ("provider", "deliver", DELIVERED), ("consumer", "receive", AGREES)),
    "disputed": (
        ("provider", "approve", {}),
        ("provider", "deliver", DELIVERED | {"card": {"note": HOSTILE}}),
        ("consumer", "dispute", DIFFERS | {"reason": HOSTILE}),
    ),
}


@dataclass
class World:
    """A service with all possible contents.

    Attributes:
        service: the service, which needs keys.
        keys: the keys by caller.
        ids: the ids for addresses by name.
        latest: the latest version of the entry `old`.
    """

    service: RunningService
    keys: dict[str, str]
    ids: dict[str, str] = field(default_factory=dict)
    latest: dict[str, Any] = field(default_factory=dict)
    _cookies: dict[str, str] = field(default_factory=dict)

    def call(self, who: str, method: str, path: str, **about: Any) -> Any:
        """Call the API."""
        headers = {"Authorization": f"Bearer {self.keys[who]}"} | about.pop("headers", {})
        answer = httpx.request(method, f"{self.service.url}{path}", headers=headers, timeout=60, **about)
        assert answer.is_success, f"{method} {path}: {answer.text}"
        return answer.json() if answer.content else None

    def publish(self, who: str, entry: dict[str, Any]) -> dict[str, Any]:
        """Publish an entry that everyone sees, under a new name."""
        entry |= {"name": f"{entry['name']}-{uuid4().hex[:8]}", "visibility": "all"}
        head: dict[str, Any] = self.call(who, "POST", "/v1/entries", params=ACCEPTED, json=entry)
        return head

    def ask(self, who: str, entry: str, **question: Any) -> str:
        """Ask for advice and return its id once it is answered."""
        with Client(self.service.url, api_key=self.keys[who]) as client:
            return client.advise(entry, **question).id

    def request(self, head: Mapping[str, Any], purpose: str = "A study of local care") -> str:
        """Request a table as the consumer and return the id of the request once it is advised."""
        about = {"purpose": purpose, "contact": "data@lab.example", "terms": head["terms"]}
        with Client(self.service.url, api_key=self.keys["consumer"]) as client:
            return client.requests.create(head["id"], **_ASKED, **about, wait=60).id

    async def sign_in(self, page: Page, who: str) -> None:
        """Give the browser the cookie of somebody who signed in with a key."""
        if who not in self._cookies:
            form = {"key": self.keys[who], "next": "/"}
            async with httpx.AsyncClient(base_url=self.service.url, timeout=60) as client:
                answer = await client.post("/sign-in", data=form, headers={"Origin": self.service.url})
            self._cookies[who] = answer.cookies["aegis_session"]
        cookie = {"name": "aegis_session", "value": self._cookies[who], "url": self.service.url}
        await page.context.add_cookies([cookie])


def world_of(service: RunningService) -> World:
    """Make all contents."""
    world = World(service, {who: service.keys[whose] for who, whose in WHO.items()})
    head = world.publish("provider", survey())
    world.ids["entry"] = head["id"]
    world.ids["coarse"] = world.ask("consumer", head["id"], **_ASKED)
    world.ids["full"] = world.ask("provider", head["id"], **_ASKED)
    _requests(world, head)
    _versions(world)
    _odd_entries(world)
    _ward(world)
    _keys(world)
    return world


def survey(**changes: Any) -> dict[str, Any]:
    """An entry of two attributes whose configurations guarantee k."""
    entry = two_attributes(**{"name": "survey", "title": "Self-rated health"} | changes)
    for configuration, privacy in zip(entry["configurations"], _PRIVACY, strict=True):
        configuration["privacy"] = dict(privacy)
    return entry


def _requests(world: World, head: Mapping[str, Any]) -> None:
    for state, steps in _STEPS.items():
        request = world.request(head, HOSTILE if state == "disputed" else "A study of local care")
        for who, action, members in steps:
            digest = {"entry_digest": head["digest"], "configuration": "c0"} if action == "deliver" else {}
            world.call(who, "POST", f"/v1/requests/{request}/actions", json={"action": action} | members | digest)
        world.ids[state] = request


def _versions(world: World) -> None:
    """An entry at version 2, and advice on version 1."""
    entry = survey(name="improved")
    head = world.publish("provider", entry)
    world.ids |= {"old": head["id"], "stale": world.ask("consumer", head["id"], **_ASKED)}
    world.latest = entry | {"name": head["name"], "title": "Self-rated health, corrected"}
    place, replaced = f"/v1/entries/{head['id']}", {"If-Match": "*"}
    world.call("provider", "PUT", place, params=ACCEPTED, json=world.latest, headers=replaced)


def _odd_entries(world: World) -> None:
    """Entries with hostile texts, many attributes, several labels, and generated tables."""
    world.ids["hostile"] = world.publish("provider", hostile())["id"]
    world.ids["hostile_advice"] = world.ask("consumer", world.ids["hostile"], measure="mutual_information")
    world.ids["wide"] = world.publish("provider", wide())["id"]
    world.ids["wide_advice"] = world.ask("provider", world.ids["wide"], measure="mutual_information", limit=None)
    world.ids["labels"] = world.publish("provider", entry_of(some_records(1), LABELS, visibility="all"))["id"]
    world.ids["labels_advice"] = world.ask("consumer", world.ids["labels"], measure="joint", label="charges")
    world.ids["mixed"] = world.publish("provider", mixed_entry())["id"]
    question = {"measure": "mutual_information", "kinds": ["masked", "generated"]}
    world.ids["mixed_advice"] = world.ask("consumer", world.ids["mixed"], **question)


def hostile(**changes: Any) -> dict[str, Any]:
    """An entry with hostile texts wherever its provider chooses them."""
    entry = example_entry(name="hostile", title=HOSTILE, description=f"# {HOSTILE}\n\n{HOSTILE}", license=HOSTILE)
    entry |= {"keywords": [HOSTILE[:90], HOSTILE[-90:]]} | changes
    attribute = entry["attributes"][0]
    for configuration in entry["configurations"]:
        configuration["maskings"] = {HOSTILE: configuration["maskings"]["age"]}
        configuration["id"] += HOSTILE
    attribute["name"], entry["label"]["name"] = HOSTILE, f"label {HOSTILE}"
    attribute["domain"] = [f"{place} {HOSTILE}" for place, _ in enumerate(attribute["domain"])]
    attribute["type"] = "string"
    return entry


def wide(attributes: int = 70, configurations: int = 40) -> dict[str, Any]:
    """An entry with many attributes and configurations."""
    entry = example_entry(name="wide", title="A wide table")
    age = entry["attributes"][0]
    entry["attributes"] = [age | {"name": f"attribute {place}"} for place in range(attributes)]
    entry["configurations"] = [
        {
            "id": f"c{place}",
            "maskings": {
                each["name"]: "age-2" if at <= place else "drop" for at, each in enumerate(entry["attributes"])
            },
        }
        for place in range(configurations)
    ]
    return entry


def _ward(world: World) -> None:
    """A tenant that requires privacy and sign-off, with an entry that awaits it, a webhook, and no question left."""
    tenant = f"ward-{uuid4().hex[:8]}"
    for role in ("provider", "reviewer", "consumer"):
        made = world.call("operator", "POST", "/v1/keys", json={"tenant": tenant, "role": role})
        world.keys[f"ward's {role}"] = made["key"]
    policy = {"require": {"k": 5}, "sign_off": True}
    world.call("operator", "PUT", "/v1/policy", params={"tenant": tenant}, json=policy)
    hook = {"tenant": tenant, "url": "https://ward.example/hook", "events": ["advice.failed"]}
    world.call("operator", "POST", "/v1/webhooks", json=hook)
    world.call("operator", "PUT", "/v1/quota", params={"tenant": tenant}, json={"advice": 1})
    with Client(world.service.url, api_key=world.keys["ward's consumer"]) as client:
        client.advise(world.ids["entry"], measure="g3")
    world.ids |= {"ward": tenant, "unsigned": world.publish("ward's provider", survey())["id"]}


def _keys(world: World) -> None:
    """A key that was replaced, its successor, and one that was revoked."""
    about = {"tenant": world.ids["ward"], "role": "consumer"}
    for name in ("replaced", "revoked"):
        world.ids[name] = world.call("operator", "POST", "/v1/keys", json=about)["prefix"]
    place = f"/v1/keys/{world.ids['replaced']}/successor"
    world.ids["successor"] = world.call("operator", "POST", place, json={"expires_days": 5})["prefix"]
    world.call("operator", "DELETE", f"/v1/keys/{world.ids['revoked']}")
