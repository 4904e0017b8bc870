"""Valid documents of every kind, the basis of mutated ones."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from aegis_sdk.wire import EXAMPLE_ADVICE_REQUEST, EXAMPLE_ENTRY
from aegis_sdk.wire.examples import (
    EXAMPLE_DRAWN_MASKING,
    EXAMPLE_GENERATED,
    EXAMPLE_HOLDOUT,
    EXAMPLE_JOINT_TRACE,
    EXAMPLE_NOISY_MASKING,
    EXAMPLE_PAIR,
)

_ZIP = {
    "name": "zip",
    "type": "string",
    "domain": ["8001", "8002", "8003"],
    "histogram": [30, 45, 25],
    "maskings": [
        {
            "id": "zip-3",
            "domain": ["1", "2", "3"],
            "mapping": [0, 1, 2],
            "joint": [[5, 8, 9, 4, 4], [7, 11, 13, 7, 7], [3, 6, 8, 5, 3]],
        }
    ],
}

QUESTION: dict[str, Any] = {**EXAMPLE_ADVICE_REQUEST, "weights": {"age": 1.0}, "attributes": ["age"]}
PATCH: dict[str, Any] = {"visibility": {"tenants": ["insurer", "university"]}}
REQUEST: dict[str, Any] = {
    "measure": "g3",
    "require": {"k": 5},
    "attributes": ["age"],
    "weights": {"age": 2.0},
    "purpose": "a study of local care",
    "contact": "data@insurer.example",
    "terms": "sha256:" + "0" * 64,
}
_DELIVERY: dict[str, Any] = {
    "url": "https://store.example/c01.csv",
    "media_type": "text/csv",
    "size": 100,
    "sha256": "0" * 64,
    "records": 100,
    "configuration": "c01",
    "privacy": {"k": 5},
    "entry_digest": "sha256:" + "0" * 64,
    "card": {"configuration": "c01", "suppressed": 0},
}
_VERDICT: dict[str, Any] = {
    "sha256": "0" * 64,
    "size": 100,
    "records": 100,
    "privacy": {"k": 5, "t": 0.2},
    "reason": "counts differ",
    "cells_compared": 10,
    "cells_differing": 1,
    "differences": [
        {
            "attributes": ["age"],
            "maskings": ["age-2"],
            "values": ["10-45"],
            "label": "M",
            "rule": "equal",
            "published": 1,
            "delivered": 2,
        }
    ],
}

#: The documents of a delivery, which have the most members.
ACTIONS: tuple[dict[str, Any], ...] = (
    {"action": "deliver"} | _DELIVERY,
    {"action": "receive"} | _VERDICT,
    {"action": "dispute"} | _VERDICT,
)

KEY: dict[str, Any] = {"tenant": "insurer", "role": "provider", "expires_days": 365}
SUCCESSOR: dict[str, Any] = {"overlap_hours": 24, "expires_days": 30}
QUOTA: dict[str, Any] = {"entries": 5_000, "versions": 10_000, "bytes": 10**9, "advice": 50_000, "jobs": 4}
POLICY: dict[str, Any] = {"require": {"k": 10}, "sign_off": True}
#: The tenants of these webhooks have no events, and names below `.example` do not resolve, so nothing is sent.
WEBHOOK: dict[str, Any] = {
    "tenant": "insurer",
    "url": "https://hooks.insurer.example/aegis",
    "events": ["entry.published", "advice.stale"],
}
SWITCH: dict[str, Any] = {"enabled": True}
SECRET: dict[str, Any] = {"overlap_hours": 24}


def entries() -> list[dict[str, Any]]:
    """Entries with one attribute and with two, with pair counts, with random maskings, and with generated tables."""
    simple = deepcopy(EXAMPLE_ENTRY)
    paired = deepcopy(EXAMPLE_ENTRY) | {
        "pairs": [deepcopy(EXAMPLE_PAIR)],
        "joint_trace": EXAMPLE_JOINT_TRACE | {"value": 0.9},
    }
    paired["attributes"].append(deepcopy(_ZIP))
    for configuration in paired["configurations"]:
        configuration["maskings"]["zip"] = "drop"
    paired["configurations"].append({"id": "c03", "maskings": {"age": "age-2", "zip": "zip-3"}})
    inexact = deepcopy(EXAMPLE_ENTRY)
    inexact["attributes"][0]["maskings"] = [deepcopy(EXAMPLE_NOISY_MASKING), deepcopy(EXAMPLE_DRAWN_MASKING)]
    generated = deepcopy(EXAMPLE_ENTRY) | {"format": 2, "holdout": deepcopy(EXAMPLE_HOLDOUT)}
    generated["configurations"].append(deepcopy(EXAMPLE_GENERATED))
    return [simple, paired, inexact, generated]


def members(value: object) -> Iterator[tuple[str, Any]]:
    """All members of all objects in a value."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield name, member
            yield from members(member)
    elif isinstance(value, list):
        for item in value:
            yield from members(item)
