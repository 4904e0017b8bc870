"""Receipts: the signed outcome of a data request, which either side can prove later without the service."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from app.audit.model import Place, moment
from app.audit.service import RECEIPT, Signer
from app.audit.store import AuditLogStore
from app.platform.callers import Caller
from app.platform.errors import NothingSignedError
from app.requests.model.data_requests import Change, DataRequest
from app.requests.service.data_requests import DataRequestSteps
from app.requests.store.data_requests import DataRequestStore
from app.requests.store.handovers import HandoverStore


def receipt_claims(
    request: DataRequest, changes: Sequence[Change], file_sha256: str | None, last: Place | None, now: datetime
) -> dict[str, Any]:
    """The claims of a receipt.

    Args:
        request: the request as its reader sees it.
        changes: its history.
        file_sha256: of the delivered file; None before the delivery.
        last: the place of its last change in the log; None if the log began later.
        now: the time of the signature.
    """
    return {
        "request": request.id,
        "state": request.state.value,
        "provider": request.provider,
        "consumer": request.consumer,
        "entry": {"id": request.entry_id, "version": request.version, "digest": request.digest},
        "terms": request.terms,
        "configuration": request.configuration,
        "file_sha256": file_sha256,
        "changes": [_change_claims(one) for one in changes],
        "audit": None if last is None else {"sequence": last.sequence, "hash": last.hash},
        "signed_at": moment(now),
    }


def _change_claims(change: Change) -> dict[str, Any]:
    """A step without its reason, which is free text, and without the person."""
    return {
        "at": None if change.at is None else moment(change.at),
        "action": change.action,
        "state": change.state.value,
        "side": change.side.value,
        "tenant": change.tenant,
        "configuration": change.configuration,
    }


class ReceiptService:
    """Signs receipts. `signer` is None where the service has no key."""

    def __init__(
        self,
        steps: DataRequestSteps,
        requests: DataRequestStore,
        handovers: HandoverStore,
        log: AuditLogStore,
        signer: Signer | None,
    ) -> None:
        self._steps = steps
        self._requests = requests
        self._handovers = handovers
        self._log = log
        self._signer = signer

    async def make(self, caller: Caller, request_id: str) -> tuple[dict[str, Any], str]:
        """The claims and the JWS of a request's receipt, in any state, as the caller sees it.

        Raises:
            NotFoundError: there is no such request, or the caller may not see it.
            NothingSignedError: the service has no key that may sign.
        """
        await self._log.freeze()  # the state, its history and its place in the log belong together
        request = await self._steps.read(caller, request_id)
        signer = await self._valid_signer()
        handover = await self._handovers.find(request.id)
        claims = receipt_claims(
            request,
            await self._requests.changes(request.id),
            None if handover is None else handover.sha256,
            await self._log.last_change_of(UUID(request.id)),
            await self._log.now(),
        )
        return claims, signer.sign(RECEIPT, claims)

    async def _valid_signer(self) -> Signer:
        if self._signer is None:
            raise NothingSignedError("This service has no key to sign with; its operator can set AEGIS_AUDIT_KEY.")
        known = {key.id: key for key in await self._log.keys()}
        key = known.get(self._signer.key_id)
        if key is None or not key.may_sign(await self._log.now()):
            raise NothingSignedError("The key of this service was replaced; restart the service with the new one.")
        return self._signer
