"""The requests of an experiment, each of which follows from a seed and a number."""

import json
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

import httpx

from bench.hostile.documents import DELIVERY, PATCH, QUESTION, REQUEST, VERDICT, entries, members
from bench.hostile.mutations import MUTATIONS

#: What is sent where: method, path and documents; the more often it stands here, the more often it is drawn.
_TARGETS: tuple[tuple[str, str, tuple[Any, ...]], ...] = (
    *[("POST", "/v1/entries?accept_small_counts=true", tuple(entries()))] * 6,
    *[("PUT", "/v1/entries/{entry}?accept_small_counts=true", tuple(entries()))] * 2,
    *[("POST", "/v1/entries/{entry}/advice", (QUESTION,))] * 5,
    ("PATCH", "/v1/entries/{entry}", (PATCH,)),
    *[("POST", "/v1/entries/{entry}/requests", (REQUEST,))] * 2,
    ("POST", "/v1/requests/{request}/deliver", (DELIVERY,)),
    ("POST", "/v1/requests/{request}/receive", (VERDICT,)),
    ("POST", "/v1/requests/{request}/dispute", (VERDICT,)),
)

#: So many names do the entries have, so that most of those that are valid are found to exist.
_NAMES = 50


@dataclass(frozen=True)
class Case:
    """A request.

    Attributes:
        kind: the kind of mutation.
        method: its method.
        path: its path, with names in braces for the ids of what the service has.
        headers: its headers.
        content: its body.
    """

    kind: str
    method: str
    path: str
    headers: dict[str, str]
    content: bytes


@cache
def _known() -> Mapping[str, Any]:
    """A value for each name of a member that some document has."""
    return dict(members([*entries(), QUESTION, PATCH, REQUEST, DELIVERY, VERDICT]))


def case(seed: int, number: int) -> Case:
    """The request of this number."""
    rng = Random(f"{seed}:{number}")
    method, path, documents = rng.choice(_TARGETS)
    document = deepcopy(rng.choice(documents))
    if method == "POST" and "name" in document:
        document["name"] = f"hostile-{number % _NAMES}"
    kind = rng.choice(list(MUTATIONS))
    body = MUTATIONS[kind](rng, document, _known())
    headers = {"Prefer": "respond-async", "If-Match": "*", **body.headers}
    return Case(kind, method, path, headers, body.content)


def prepared(url: str) -> dict[str, str]:
    """The ids of an entry and of a request for it, which are made for this."""
    with httpx.Client(base_url=url, timeout=60) as api:
        entry = entries()[0] | {"name": "health-survey"}
        head = api.post("/v1/entries", params={"accept_small_counts": "true"}, json=entry).raise_for_status().json()
        asked = REQUEST | {"terms": head["terms"]}
        request = api.post(f"/v1/entries/{head['id']}/requests", json=asked).raise_for_status().json()
    return {"entry": head["id"], "request": request["id"]}


def to_json(one: Case, answer: str) -> str:
    """A case as text, so that it can be sent again, with what was answered."""
    return json.dumps(vars(one) | {"content": one.content.decode("latin-1"), "answer": answer})


def from_json(text: str) -> Case:
    """The case in such a text."""
    read = json.loads(text)
    del read["answer"]
    return Case(**read | {"content": read["content"].encode("latin-1")})
