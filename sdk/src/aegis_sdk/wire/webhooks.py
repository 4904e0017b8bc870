"""Webhooks, which receive a tenant's events."""

from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field

from aegis_sdk.wire.catalogue import EntryVersion
from aegis_sdk.wire.documents import Answer, Request, Uuid
from aegis_sdk.wire.examples import EXAMPLE_ADVICE, EXAMPLE_HEAD
from aegis_sdk.wire.values import Identifier, UtcTime

LONGEST_URL: Final = 2_000
"""The longest URL of a webhook, in characters."""

_SECRET: Final = "whsec_GmQxXK0uVpZ3cB1nT7yWfR5eL9aHsD2kJ4oU6iP8qEw="  # noqa: S105 -- an example

_EXAMPLE_WEBHOOK: Final[dict[str, Any]] = {
    "id": "0f0c2a3e-63c2-4a53-9a0c-6d6c0d3f5b1e",
    "tenant": "insurer",
    "url": "https://hooks.insurer.example/aegis",
    "events": ["entry.published", "advice.stale"],
    "created_at": "2026-03-01T12:00:00Z",
    "created_by": "aegis_30a4a6be",
    "enabled": True,
    "disabled_reason": None,
    "failing_since": None,
    "last_attempt_at": "2026-03-01T12:05:00Z",
    "last_status": 204,
    "last_error": None,
}

_EXAMPLE_DELIVERY: Final[dict[str, Any]] = {
    "id": "6a1f7c1e-3f0b-4c55-8f43-0f6f1b2a9d10",
    "event": "entry.published",
    "status": "pending",
    "attempts": 1,
    "created_at": "2026-03-01T12:05:00Z",
    "next_attempt_at": "2026-03-01T12:05:06Z",
    "last_attempt_at": "2026-03-01T12:05:01Z",
    "last_status": 503,
    "last_error": None,
}


class WebhookRequest(Request):
    """Asks for a new webhook."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"url": _EXAMPLE_WEBHOOK["url"], "events": ["entry.published", "advice.stale"]}]
        }
    )

    url: Annotated[str, Field(min_length=1, max_length=LONGEST_URL)] = Field(
        description="URL that events are posted to: HTTPS, on the public internet"
    )
    events: Annotated[list[Identifier], Field(min_length=1, max_length=100)] = Field(
        description="Types of the events to receive"
    )
    tenant: Identifier | None = Field(
        default=None, description="Tenant of the webhook; only operators can name another tenant than their own"
    )


class WebhookPatch(Request):
    """Enables or disables a webhook."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"enabled": True}]})

    enabled: bool = Field(description="Whether events are sent; true also clears earlier failures")


class SecretRotation(Request):
    """Asks for a new secret of a webhook."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"overlap_hours": 24}]})

    overlap_hours: Annotated[int, Field(ge=0, le=24 * 30)] = Field(
        default=24, description="Hours for which the old secret also signs; 0 ends it at once"
    )


class Webhook(Answer):
    """A webhook, without its secret."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE_WEBHOOK]})

    id: Uuid = Field(description="Id of the webhook")
    tenant: str = Field(description="Tenant of the webhook")
    url: str = Field(description="URL that events are posted to")
    events: list[str] = Field(description="Types of the events to receive")
    created_at: UtcTime = Field(description="When it was created (RFC 3339, UTC)")
    created_by: str | None = Field(default=None, description="Creator: prefix of a key, or subject of a token")
    enabled: bool = Field(description="Whether events are sent")
    disabled_reason: str | None = Field(
        default=None,
        description="`administrator`, `gone` (it answered 410) or `failing` (for a week); null: it is enabled",
    )
    failing_since: UtcTime | None = Field(
        default=None, description="Time of the first failure since the last success; null: the last attempt succeeded"
    )
    last_attempt_at: UtcTime | None = Field(default=None, description="Time of the last attempt; null: never")
    last_status: int | None = Field(default=None, description="HTTP status of the last response; null: none")
    last_error: str | None = Field(
        default=None, description="Why there was no response: `address_refused`, `timeout` or `unreachable`"
    )


class NewWebhook(Webhook):
    """A webhook with a new secret, which is shown only once."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE_WEBHOOK | {"secret": _SECRET}]})

    secret: str = Field(description="The secret by which the receiver checks signatures (Standard Webhooks)")


class WebhookList(Answer):
    """The webhooks of a tenant, oldest first."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"items": [_EXAMPLE_WEBHOOK]}]})

    items: list[Webhook] = Field(description="The webhooks, including disabled ones")


class WebhookDelivery(Answer):
    """An event for a webhook, and the attempts to post it."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE_DELIVERY]})

    id: Uuid = Field(description="The `webhook-id` of every attempt")
    event: str = Field(description="Type of the event")
    status: str = Field(description="`pending`, `delivered` or `failed` (given up)")
    attempts: int = Field(description="Number of attempts")
    created_at: UtcTime = Field(description="Time of the event (RFC 3339, UTC)")
    next_attempt_at: UtcTime | None = Field(
        default=None, description="Earliest time of the next attempt; null unless pending"
    )
    last_attempt_at: UtcTime | None = Field(default=None, description="Time of the last attempt; null: none")
    last_status: int | None = Field(default=None, description="HTTP status of the last response; null: none")
    last_error: str | None = Field(
        default=None, description="Why there was no response: `address_refused`, `timeout` or `unreachable`"
    )


class WebhookDeliveryList(Answer):
    """Recent and pending events of a webhook, newest first."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"items": [_EXAMPLE_DELIVERY]}]})

    items: list[WebhookDelivery] = Field(description="The events of the last 30 days, up to the requested number")


_ENTRY: Final[dict[str, Any]] = {
    "entry": {
        "id": EXAMPLE_HEAD["id"],
        "name": EXAMPLE_HEAD["name"],
        "tenant": "hospital",
        "version": 3,
        "digest": "hmac-sha256:0f7c3f2d9c1b5a6e8d4f7a2b3c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f",
    }
}


def _example(type_: str, **data: Any) -> ConfigDict:  # noqa: ANN401 -- what the event says
    event: dict[str, Any] = {"type": type_, "timestamp": "2026-03-01T12:05:00Z", "data": data}
    return ConfigDict(json_schema_extra={"examples": [event]})


class Event(Answer):
    """The members of all events."""

    timestamp: UtcTime = Field(description="Time of the event (RFC 3339, UTC)")


class EventEntry(EntryVersion):
    """A version of an entry in an event."""

    name: str = Field(description="Name of the entry")
    tenant: str = Field(description="Tenant that owns the entry")
    digest: str = Field(description="The keyed digest of this version, which cannot confirm a guess of the counts")


class EntryEventData(Answer):
    """The subject of the event."""

    entry: EventEntry = Field(description="The entry, in its latest version that others see")


class EntryEvent(Event):
    """An entry has a new visible version, has changed, or is no longer visible."""

    model_config = _example("entry.published", **_ENTRY)

    type: Literal["entry.published", "entry.changed", "entry.withdrawn"] = Field(description="The subject of the event")
    data: EntryEventData = Field(description="To what")


class FoundSearch(Answer):
    """A saved search that has found something."""

    id: Uuid = Field(description="Id of the search")


class FoundEventData(EntryEventData):
    """The search, and what it has found."""

    search: FoundSearch = Field(description="The saved search")


class FoundEvent(Event):
    """A saved search of the tenant has found an entry."""

    model_config = _example("entry.found", search={"id": "9f1c7b0e-8a55-4d0b-b3f5-2f6f7d1f5c11"}, **_ENTRY)

    type: Literal["entry.found"] = Field(description="The subject of the event")
    data: FoundEventData = Field(description="To what")


class EndedAdvice(Answer):
    """An advice that has ended."""

    id: Uuid = Field(description="Id by which the tenant reads the advice")


class AdviceEventData(EntryEventData):
    """The subject of the event."""

    advice: EndedAdvice = Field(description="The advice")


class AdviceEvent(Event):
    """An advice that the tenant asked for has succeeded or failed."""

    model_config = _example("advice.succeeded", advice={"id": EXAMPLE_ADVICE["id"]}, **_ENTRY)

    type: Literal["advice.succeeded", "advice.failed"] = Field(description="The subject of the event")
    data: AdviceEventData = Field(description="To what")


class StaleAdviceEventData(EntryEventData):
    """The new version, and the versions that were asked about."""

    versions: list[int] = Field(description="The older versions that the tenant asked about")


class StaleAdviceEvent(Event):
    """A new version of an entry is visible to a tenant that asked about an older one."""

    model_config = _example("advice.stale", versions=[1, 2], **_ENTRY)

    type: Literal["advice.stale"] = Field(description="The subject of the event")
    data: StaleAdviceEventData = Field(description="To what")


class ChangedRequest(Answer):
    """A data request that has changed."""

    id: Uuid = Field(description="Id of the request")
    state: str = Field(description="State after the change")


class RequestEventData(EntryEventData):
    """The subject of the event."""

    request: ChangedRequest = Field(description="The request")


class RequestEvent(Event):
    """A data request of the tenant, or for one of its entries, is new or has changed."""

    model_config = _example(
        "request.changed", request={"id": "5c1e97f3-7d60-4a51-8a51-3f0f9a6a2b11", "state": "approved"}, **_ENTRY
    )

    type: Literal["request.changed"] = Field(description="The subject of the event")
    data: RequestEventData = Field(description="To what")


class PingEventData(Answer):
    """Nothing."""


class PingEvent(Event):
    """A test of the webhook."""

    model_config = _example("ping")

    type: Literal["ping"] = Field(description="The subject of the event")
    data: PingEventData = Field(description="Nothing")
