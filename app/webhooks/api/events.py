"""The events that webhooks are sent, as the OpenAPI document describes them."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from aegis_sdk import wire
from app.webhooks.model.events import (
    ADVICE_FAILED,
    ADVICE_STALE,
    ADVICE_SUCCEEDED,
    ENTRY_CHANGED,
    ENTRY_PUBLISHED,
    ENTRY_WITHDRAWN,
    EVENT_TYPES,
    PING,
    REQUEST_CHANGED,
)

_MODELS: Final[Mapping[str, type[BaseModel]]] = {
    ENTRY_PUBLISHED: wire.EntryEvent,
    ENTRY_CHANGED: wire.EntryEvent,
    ENTRY_WITHDRAWN: wire.EntryEvent,
    ADVICE_SUCCEEDED: wire.AdviceEvent,
    ADVICE_FAILED: wire.AdviceEvent,
    ADVICE_STALE: wire.StaleAdviceEvent,
    REQUEST_CHANGED: wire.RequestEvent,
    PING: wire.PingEvent,
}

_TESTED: Final = {PING: "somebody tests the webhook"}

EVENTS: Final[Mapping[str, tuple[str, type[BaseModel]]]] = {
    type_: (when, _MODELS[type_]) for type_, when in {**EVENT_TYPES, **_TESTED}.items()
}
"""By type: when it is sent, and what is posted."""

HEADERS: Final[list[dict[str, Any]]] = [
    {"name": name, "in": "header", "required": True, "description": description, "schema": schema}
    for name, description, schema in (
        ("webhook-id", "Id of the delivery, the same for every attempt", {"type": "string", "format": "uuid"}),
        (
            "webhook-timestamp",
            "Seconds from 1970 to this attempt",
            {"type": "string", "pattern": "^[0-9]+$"},
        ),
        ("webhook-signature", "`v1,` and a signature, one for each secret, separated by blanks", {"type": "string"}),
    )
]
"""What Standard Webhooks 1.0 has receivers check."""
