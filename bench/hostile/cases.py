"""The requests of an experiment, each determined by a seed and a number."""

import json
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

import httpx

from bench.hostile.documents import (
    ACTIONS,
    KEY,
    PATCH,
    POLICY,
    QUESTION,
    QUOTA,
    REQUEST,
    SECRET,
    SUCCESSOR,
    SWITCH,
    WEBHOOK,
    entries,
    members,
)
from bench.hostile.mutations import MUTATIONS

Target = tuple[str, str, tuple[Any, ...]]

#: The operations: method, path and documents. Repeated ones are drawn more often.
_OF_PROVIDERS: tuple[Target, ...] = (
    *[("POST", "/v1/entries?accept_small_counts=true", tuple(entries()))] * 6,
    *[("PUT", "/v1/entries/{entry}?accept_small_counts=true", tuple(entries()))] * 2,
    *[("POST", "/v1/entries/{entry}/advice", (QUESTION,))] * 5,
    ("PATCH", "/v1/entries/{entry}", (PATCH,)),
    *[("POST", "/v1/entries/{entry}/requests", (REQUEST,))] * 2,
    *[("POST", "/v1/requests/{request}/actions", ACTIONS)] * 3,
)

#: These affect other tenants, keys and webhooks than those of the senders, so that no request locks a sender out.
_OF_OPERATORS: tuple[Target, ...] = (
    ("POST", "/v1/keys", (KEY,)),
    ("POST", "/v1/keys/{key}/successor", (SUCCESSOR,)),
    ("PUT", "/v1/quota?tenant=quiet", (QUOTA,)),
    ("PUT", "/v1/policy?tenant=quiet", (POLICY,)),
    ("POST", "/v1/webhooks", (WEBHOOK,)),
    ("PATCH", "/v1/webhooks/{webhook}", (SWITCH,)),
    ("POST", "/v1/webhooks/{webhook}/secret", (SECRET,)),
)

_TARGETS = (*(("provider", one) for one in _OF_PROVIDERS), *(("operator", one) for one in _OF_OPERATORS))

#: The number of names of entries and tenants, so small that most valid requests meet an existing one.
_NAMES = 50


@dataclass(frozen=True)
class Case:
    """A request.

    Attributes:
        kind: the kind of mutation.
        caller: the role of its sender.
        path: with names in braces for the ids of existing resources.
        content: its body.
    """

    kind: str
    caller: str
    method: str
    path: str
    headers: dict[str, str]
    content: bytes


@cache
def _known() -> Mapping[str, Any]:
    """A value for every member name of any document."""
    return dict(members([*entries(), *(one for _, (_, _, documents) in _TARGETS for one in documents)]))


def case(seed: int, number: int) -> Case:
    """The request with this number."""
    rng = Random(f"{seed}:{number}")
    caller, (method, path, documents) = rng.choice(_TARGETS)
    document = deepcopy(rng.choice(documents))
    if "tenant" in document:
        document["tenant"] = f"hostile-{number % _NAMES}"
    if method == "POST" and "name" in document:
        document["name"] = f"hostile-{number % _NAMES}"
    kind = rng.choice(list(MUTATIONS))
    body = MUTATIONS[kind](rng, document, _known())
    headers = {"Prefer": "respond-async", "If-Match": "*", **body.headers}
    return Case(kind, caller, method, path, headers, body.content)


def prepared(url: str, operator: str) -> dict[str, str]:
    """Create the resources of the requests; return their ids by name and the senders' keys by role."""
    with httpx.Client(base_url=url, timeout=300) as api:
        provider = _posted(api, "/v1/keys", operator, tenant="health", role="provider")["key"]
        entry = entries()[0] | {"name": "health-survey"}
        head = _posted(api, "/v1/entries?accept_small_counts=true", provider, **entry)
        asked = REQUEST | {"terms": head["terms"]}
        request = _posted(api, f"/v1/entries/{head['id']}/requests", provider, **asked)
        spare = _posted(api, "/v1/keys", operator, tenant="quiet", role="consumer")
        webhook = _posted(api, "/v1/webhooks", operator, **WEBHOOK | {"tenant": "quiet"})
    about = {"entry": head["id"], "request": request["id"], "key": spare["prefix"], "webhook": webhook["id"]}
    return about | {"provider": provider, "operator": operator}


def _posted(api: httpx.Client, path: str, key: str, **document: Any) -> dict[str, Any]:  # noqa: ANN401 -- JSON
    answer = api.post(path, json=document, headers={"Authorization": f"Bearer {key}"}).raise_for_status()
    read: dict[str, Any] = answer.json()
    return read


def to_json(one: Case, answer: str) -> str:
    """A case as JSON for sending it again, with the response."""
    return json.dumps(vars(one) | {"content": one.content.decode("latin-1"), "answer": answer})


def from_json(text: str) -> Case:
    """The case in such JSON."""
    read = json.loads(text)
    del read["answer"]
    return Case(**read | {"content": read["content"].encode("latin-1")})
