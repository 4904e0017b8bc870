"""Webhooks (Standard Webhooks 1.0): where a tenant is told of events, what is sent there, and of what events."""

import base64
import hmac
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Protocol

MOST_WEBHOOKS: Final = 10
"""The most webhooks of a tenant."""

SCHEDULE: Final = tuple(timedelta(seconds=wait) for wait in (5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400))
"""How long to wait after each failed attempt; an event is given up when the last wait has ended in a failure, too."""

LONGEST_PAUSE: Final = timedelta(minutes=30)
"""The most that a failing webhook is left alone, unless its answer asks for more."""

PATIENCE: Final = timedelta(days=7)
"""A webhook that has only failed for so long is disabled."""

KEPT: Final = timedelta(days=30)
"""Deliveries are kept for so long."""

_MARK: Final = "whsec_"
_SECRET_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class Webhook:
    """A webhook as stored, without its secret.

    Attributes:
        event_types: the events that it asks for.
        created_by: who created it: the prefix of a key, or the subject of a token.
        disabled_at: since when nothing is sent to it; None if it is enabled.
        disabled_reason: `administrator`, `gone` (its answer was 410) or `failing`.
        failing_since: when the first attempt after the last success failed; None if the last one succeeded.
        last_attempt_at: when something was last sent to it.
        last_status: the HTTP status of its answer; None if there was none.
        last_error: why there was no answer: `address_refused`, `timeout` or `unreachable`.
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
    """What became of an event on its way to a webhook.

    Attributes:
        id: the same for every attempt, so that its receiver knows a repetition.
        status: `pending`, `delivered` or `failed`.
        next_attempt_at: when it is tried next, at the earliest; None unless it is pending.
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
    """A delivery that is to be tried now.

    Attributes:
        secrets: the secrets that sign it: the current one, and for a while the one before.
        data: what the event says.
        attempts: how often it was tried before.
        failures: how many attempts of the webhook have failed since the last success, of whatever event.
        failing_since: when the first of these was; None if there is none.
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
    """How an attempt has ended.

    Attributes:
        status: the HTTP status of the answer; None if there was none.
        error: why there was none; None if there was one.
        retry_after: how long the answer asks to wait.
    """

    status: int | None = None
    error: str | None = None
    retry_after: timedelta | None = None

    @property
    def is_success(self) -> bool:
        """Whether the receiver has taken the event."""
        return self.status is not None and 200 <= self.status < 300  # noqa: PLR2004 -- the statuses of success

    @property
    def is_gone(self) -> bool:
        """Whether the receiver wants nothing more."""
        return self.status == 410  # noqa: PLR2004 -- Gone


def draw_secret() -> bytes:
    """A new secret of 256 random bits."""
    return secrets.token_bytes(_SECRET_BYTES)


def secret_text(secret: bytes) -> str:
    """A secret as its holder keeps it."""
    return _MARK + base64.b64encode(secret).decode()


def signed_headers(message_id: str, moment: datetime, body: bytes, keys: Sequence[bytes]) -> dict[str, str]:
    """The headers by which a receiver knows who has sent a body, and when: a signature by each of the keys."""
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
ADVICE_SUCCEEDED: Final = "advice.succeeded"
ADVICE_FAILED: Final = "advice.failed"
ADVICE_STALE: Final = "advice.stale"
REQUEST_CHANGED: Final = "request.changed"

EVENT_TYPES: Final[Mapping[str, str]] = {
    ENTRY_PUBLISHED: "a version of an entry has become visible to the tenant",
    ENTRY_CHANGED: "who sees an entry has changed, and the tenant still does",
    ENTRY_WITHDRAWN: "the tenant does not see an entry any more",
    ADVICE_SUCCEEDED: "an advice that the tenant waits for is there",
    ADVICE_FAILED: "an advice that the tenant waits for has failed",
    ADVICE_STALE: "a new version of an entry has become visible to the tenant, which has asked about an older one",
    REQUEST_CHANGED: "a data request of the tenant, or for one of its entries, is new or has changed",
}
"""What a webhook can ask for, each with when it happens. To add a type, add it here and in the table of docs/api.md."""

PING: Final = "ping"
"""The type of the event that only a test of a webhook sends."""


class Seen(Protocol):
    """Who sees an entry."""

    @property
    def audience(self) -> StrEnum:
        """`private`, `all`, or `tenants`."""

    @property
    def tenants(self) -> Sequence[str]:
        """The tenants' names if the audience is `tenants`."""
