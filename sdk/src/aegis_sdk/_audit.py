"""The audit log, and the public keys that verify receipts."""

from collections.abc import Callable
from datetime import datetime

import httpx

from aegis_sdk._answers import read_answer
from aegis_sdk._flows import Awaiting, Blocking, Flow, Pages, listing, method
from aegis_sdk._pages import pages
from aegis_sdk.wire import AuditPage, AuditRecord, PublicKeySet, SignedHead, SignedHeadPage

KEYS_PATH = "/.well-known/aegis-keys.json"


class AuditFlows:
    """The audit log, for operators.

    All methods but `keys` raise `ForbiddenError` unless the caller is an operator.
    """

    _send: Callable[..., Flow[httpx.Response]]

    @listing
    def records(
        self,
        since: datetime | None = None,
        until: datetime | None = None,
        entry_id: str | None = None,
        request_id: str | None = None,
    ) -> Pages[AuditRecord]:
        """The records of the log, newest first.

        Args:
            since: Only from this time on; it needs a time zone.
            until: Only before this time.
            entry_id: Only about this entry.
            request_id: Only about this data request.
        """
        times = {name: None if at is None else at.isoformat() for name, at in (("since", since), ("until", until))}
        wanted = times | {"entry": entry_id, "request": request_id}
        return pages(self._send, AuditPage, "/v1/audit", wanted)

    @listing
    def heads(self) -> Pages[SignedHead]:
        """Signed heads of the log, one for each day, newest first."""
        return pages(self._send, SignedHeadPage, "/v1/audit/heads", {})

    @method
    def keys(self) -> Flow[PublicKeySet]:
        """The public keys that verify heads and receipts, for everybody."""
        return read_answer(PublicKeySet, (yield from self._send("GET", KEYS_PATH)))


class Audit(AuditFlows, Blocking):
    """The audit log. `Client.audit` is one; `AuditFlows` says more."""


class AsyncAudit(AuditFlows, Awaiting):
    """The same as `Audit`, each to be awaited. `AsyncClient.audit` is one."""
