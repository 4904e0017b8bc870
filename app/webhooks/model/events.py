"""Events: what happens in the service that tenants can be told of by webhooks."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final, Protocol

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
