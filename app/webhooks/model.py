"""Webhooks (Standard Webhooks 1.0), their deliveries and their events."""

import base64
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Protocol

MOST_WEBHOOKS: Final = 10
"""The most webhooks of a tenant."""

SCHEDULE: Final = tuple(timedelta(seconds=wait) for wait in (5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400))
"""The waits after failed attempts; an event is given up when the attempt after the last wait fails, too."""

LONGEST_PAUSE: Final = timedelta(minutes=30)
"""The longest pause of a failing webhook, unless its response asks for more."""

PATIENCE: Final = timedelta(days=7)
"""A webhook is disabled after only failures for this time."""

KEPT: Final = timedelta(days=30)
"""How long deliveries are stored."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """A webhook as stored, without its secret.

    Attributes:
        event_types: the events that it subscribes to.
        created_by: the prefix of a key, or the subject of a token.
        disabled_reason: `administrator`, `gone` (the response 410) or `failing`.
        failing_since: the first failure after the last success; None if the last attempt succeeded.
        last_status: the HTTP status of the last response; None if there was none.
        last_error: why there was no response: `address_refused`, `timeout` or `unreachable`.
    """

    id: str
    tenant: str
    url: str
    event_types: tuple[str, ...]
    created_at: datetime
    created_by: str | None = None
    disabled_at: datetime | None = None
    disabled_reason: str | None = None
    failing_since: datetime | None = None
    last_attempt_at: datetime | None = None
    last_status: int | None = None
    last_error: str | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """The delivery of an event to a webhook.

    Attributes:
        id: the same for every attempt, so that the receiver recognises a repetition.
        status: `pending`, `delivered` or `failed`.
        next_attempt_at: the earliest time of the next attempt; None unless it is pending.
    """

    id: str
    type: str
    status: str
    attempts: int
    created_at: datetime
    next_attempt_at: datetime | None = None
    last_attempt_at: datetime | None = None
    last_status: int | None = None
    last_error: str | None = None


@dataclass(frozen=True, slots=True)
class DueDelivery:
    """A delivery that is due.

    Attributes:
        secrets: the signing secrets: the current one and, during an overlap, the previous one.
        attempts: the number of previous attempts.
        failures: the webhook's failed attempts since the last success, of any event.
        failing_since: the time of the first of these.
    """

    id: str
    webhook_id: str
    url: str
    secrets: tuple[bytes, ...]
    type: str
    data: Mapping[str, Any]
    created_at: datetime
    attempts: int
    failures: int
    failing_since: datetime | None

    def body(self) -> bytes:
        """The event as JSON."""
        occurred = self.created_at.astimezone(UTC).isoformat().replace("+00:00", "Z")
        return json.dumps({"type": self.type, "timestamp": occurred, "data": self.data}).encode()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of an attempt.

    Attributes:
        status: the HTTP status of the response; None without a response.
        error: why there was no response; None if there was one.
        retry_after: the wait that the response asks for.
    """

    status: int | None = None
    error: str | None = None
    retry_after: timedelta | None = None

    @property
    def is_success(self) -> bool:
        """Whether the receiver has accepted the event."""
        return self.status is not None and 200 <= self.status < 300  # noqa: PLR2004 -- the statuses of success


def signed_headers(message_id: str, moment: datetime, body: bytes, keys: Sequence[bytes]) -> dict[str, str]:
    """The headers that authenticate a body and its time, with one signature per key."""
    seconds = int(moment.timestamp())
    content = f"{message_id}.{seconds}.".encode() + body
    signatures = (base64.b64encode(hmac.digest(key, content, "sha256")).decode() for key in keys)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }


ENTRY_PUBLISHED: Final = "entry.published"
ENTRY_CHANGED: Final = "entry.changed"
ENTRY_WITHDRAWN: Final = "entry.withdrawn"
ENTRY_FOUND: Final = "entry.found"
ADVICE_SUCCEEDED: Final = "advice.succeeded"
ADVICE_FAILED: Final = "advice.failed"
ADVICE_STALE: Final = "advice.stale"
REQUEST_CHANGED: Final = "request.changed"

EVENT_TYPES: Final[Mapping[str, str]] = {
    ENTRY_PUBLISHED: "a version of an entry has become visible to the tenant",
    ENTRY_CHANGED: "who sees an entry has changed, and the tenant still does",
    ENTRY_WITHDRAWN: "the tenant does not see an entry any more",
    ENTRY_FOUND: "a saved search of the tenant has found a version, or one that is worth more than all before",
    ADVICE_SUCCEEDED: "an advice that the tenant waits for is there",
    ADVICE_FAILED: "an advice that the tenant waits for has failed",
    ADVICE_STALE: "a new version of an entry has become visible to the tenant, which has asked about an older one",
    REQUEST_CHANGED: "a data request of the tenant, or for one of its entries, is new or has changed",
}
"""The event types with their occasions. To add one, add it here and to the table in docs/api.md."""

PING: Final = "ping"
"""The event type that only a test of a webhook sends."""


class Seen(Protocol):
    """Who sees an entry."""

    @property
    def audience(self) -> StrEnum:
        """`private`, `all`, or `tenants`."""

    @property
    def tenants(self) -> Sequence[str]:
        """The tenants' names if the audience is `tenants`."""
