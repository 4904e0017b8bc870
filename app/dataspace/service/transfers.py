"""Transfers by the Dataspace Protocol, each of which is the delivery of a data request."""

from dataclasses import dataclass
from typing import Final

from app.dataspace.model.processes import (
    OPEN_TRANSFER,
    NegotiationState,
    Transfer,
    TransferState,
    link_of,
    process_id_of,
)
from app.dataspace.service.negotiations import NegotiationService, is_consumer, refuse_other_pid
from app.dataspace.store import NewProcess, TransferStore
from app.platform.callers import Caller
from app.platform.errors import ActionNotPossibleError, InvalidDocumentError, NotFoundError
from app.requests.model.data_requests import Action, Handover, Verification
from app.requests.model.data_requests import State as RequestState
from app.requests.service.handovers import VerificationService
from app.tenants.model import NOTHING_REQUIRED

_AGREEMENT: Final = "urn:aegis:agreement:"


@dataclass(frozen=True, slots=True)
class TransferService:
    """The consumer's messages about transfers.

    Raises:
        NotFoundError: by all with the id of a transfer: there is none, or it is not the caller's.
        ActionNotPossibleError: by all of these: it is not possible in the present state.
        InvalidDocumentError: by all of these: the consumer's id is another one.
    """

    _transfers: TransferStore
    _negotiations: NegotiationService
    _verifications: VerificationService

    async def request(self, caller: Caller, new: NewProcess, agreement: str) -> Transfer:
        """Begin a transfer. One that has begun with the same id of the consumer is returned as it is.

        Raises:
            NotFoundError: there is no such agreement, or it is not the caller's.
            ActionNotPossibleError: the agreement is not final, or its table was received, or cannot be delivered.
            InvalidDocumentError: another transfer of the agreement is open.
        """
        known = await self._transfers.of_consumer(caller.tenant, new.consumer_pid)
        if known is not None:
            return known
        negotiation = await self._negotiations.find(caller, agreement.removeprefix(_AGREEMENT), lock=True)
        negotiation.require("a transfer", NegotiationState.FINALIZED)
        if negotiation.request.state not in (RequestState.APPROVED, RequestState.DELIVERED):
            raise ActionNotPossibleError(negotiation.request.state, "a transfer", ())
        added = await self._transfers.add(caller.tenant, new, negotiation.id)
        if added is None:
            raise InvalidDocumentError("Another transfer of this agreement is open.")
        return await self.find(caller, added)

    async def find(self, caller: Caller, pid: str, *, lock: bool = False) -> Transfer:
        """A transfer of the caller."""
        transfer = await self._transfers.find(process_id_of(pid), lock=lock)
        if transfer is None or not is_consumer(caller, transfer.request):
            raise NotFoundError(f"There is no transfer {pid}, or you may not see it.")
        return transfer

    async def start(self, caller: Caller, pid: str, consumer_pid: str) -> Transfer:
        """Go on with a transfer that the consumer has suspended."""
        transfer = await self._own(caller, pid, consumer_pid)
        transfer.require("starting", TransferState.SUSPENDED)
        if not transfer.is_paused:
            raise ActionNotPossibleError(f"{transfer.shown} by the provider", "starting", ())
        await self._transfers.set_state(transfer.id, TransferState.STARTED.value, is_paused=False)
        return await self.find(caller, pid)

    async def suspend(self, caller: Caller, pid: str, consumer_pid: str) -> Transfer:
        """Interrupt a transfer, until the consumer goes on with it."""
        transfer = await self._own(caller, pid, consumer_pid)
        transfer.require("suspending", TransferState.STARTED)
        # The link that is just being sent is known, if the consumer speaks of it.
        link = transfer.link or (transfer.handover and link_of(transfer.handover))
        await self._transfers.set_state(transfer.id, TransferState.SUSPENDED.value, is_paused=True, link=link)
        return await self.find(caller, pid)

    async def complete(self, caller: Caller, pid: str, consumer_pid: str) -> Transfer:
        """Receive the file as it was described, with nothing compared."""
        transfer = await self._own(caller, pid, consumer_pid)
        transfer.require("completing", TransferState.STARTED)
        if transfer.request.state is RequestState.DELIVERED and transfer.handover is not None:
            verdict = _as_described(transfer.handover)
            await self._verifications.take(caller, transfer.request.id, Action.RECEIVE, verdict, None)
        await self._transfers.set_state(transfer.id, TransferState.COMPLETED.value)
        return await self.find(caller, pid)

    async def terminate(self, caller: Caller, pid: str, consumer_pid: str, reason: str | None) -> Transfer:
        """End a transfer. With a reason, the delivery is disputed; without one, another transfer can follow."""
        transfer = await self._own(caller, pid, consumer_pid)
        transfer.require("terminating", *OPEN_TRANSFER)
        if reason is not None and transfer.request.state is RequestState.DELIVERED:
            verdict = Verification(None, None, None, NOTHING_REQUIRED, 0, 0, ())
            await self._verifications.take(caller, transfer.request.id, Action.DISPUTE, verdict, reason)
        await self._transfers.set_state(transfer.id, TransferState.TERMINATED.value)
        return await self.find(caller, pid)

    async def _own(self, caller: Caller, pid: str, consumer_pid: str) -> Transfer:
        """A locked transfer, which the consumer calls by its own id."""
        transfer = await self.find(caller, pid, lock=True)
        refuse_other_pid(transfer.consumer_pid, consumer_pid)
        return transfer


def _as_described(handover: Handover) -> Verification:
    return Verification(handover.sha256, handover.size, handover.records, NOTHING_REQUIRED, 0, 0, ())
