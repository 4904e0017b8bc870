"""Events for webhooks. Ignore unknown types and members: more may be added."""

from typing import Any, Final, Literal

from pydantic import ConfigDict, Field

from aegis_sdk.wire.catalogue import EntryVersion
from aegis_sdk.wire.documents import Answer
from aegis_sdk.wire.examples import EXAMPLE_ADVICE, EXAMPLE_HEAD
from aegis_sdk.wire.values import UtcTime, Uuid

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
