"""Transfers by the Dataspace Protocol, each of which is the delivery of a data request."""

from dataclasses import dataclass
from typing import Final

from app.dataspace.model.processes import OPEN_TRANSFER, NegotiationState, Transfer, TransferState, link_of
from app.dataspace.service.negotiations import NegotiationService
from app.dataspace.service.processes import ProcessService, Sender
from app.dataspace.store import NewProcess, TransferStore
from app.platform.callers import Caller
from app.platform.errors import ActionNotPossibleError, InvalidDocumentError
from app.requests.model.data_requests import Action, Verification
from app.requests.model.data_requests import State as RequestState
from app.requests.service.handovers import VerificationService
from app.tenants.model import NOTHING_REQUIRED

_AGREEMENT: Final = "urn:aegis:agreement:"


@dataclass(frozen=True, slots=True)
class TransferService(ProcessService[Transfer]):
    """The consumer's messages about transfers.

    Raises:
        NotFoundError: by all of these: there is no such transfer, or it is not the caller's.
        ActionNotPossibleError: by all of these: it is not possible in the present state.
        InvalidDocumentError: by all of these: the consumer's id is another one.
    """

    _processes: TransferStore
    _negotiations: NegotiationService
    _verifications: VerificationService
    _noun = "transfer"

    async def request(self, caller: Caller, new: NewProcess, agreement: str) -> Transfer:
        """Begin a transfer. One that has begun with the same id of the consumer is returned as it is.

        Raises:
            NotFoundError: there is no such agreement, or it is not the caller's.
            ActionNotPossibleError: the agreement is not final, or its table was received, or cannot be delivered.
            InvalidDocumentError: another transfer of the agreement is open.
        """
        known = await self._processes.of_consumer(caller.tenant, new.consumer_pid)
        if known is not None:
            return known
        negotiation = await self._negotiations.find(caller, agreement.removeprefix(_AGREEMENT), lock=True)
        negotiation.require("a transfer", NegotiationState.FINALIZED)
        if negotiation.request.state not in (RequestState.APPROVED, RequestState.DELIVERED):
            raise ActionNotPossibleError(negotiation.request.state, "a transfer", ())
        added = await self._processes.add(caller.tenant, new, negotiation.id)
        if added is None:
            raise InvalidDocumentError("Another transfer of this agreement is open.")
        return await self.find(caller, added)

    async def start(self, sender: Sender) -> Transfer:
        """Go on with a transfer that the consumer has suspended."""
        transfer = await self._locked(sender)
        transfer.require("starting", TransferState.SUSPENDED)
        if not transfer.is_paused:
            raise ActionNotPossibleError(f"{transfer.shown} by the provider", "starting", ())
        return await self._moved(sender, TransferState.STARTED, is_paused=False)

    async def suspend(self, sender: Sender) -> Transfer:
        """Interrupt a transfer, until the consumer goes on with it."""
        transfer = await self._locked(sender)
        transfer.require("suspending", TransferState.STARTED)
        # The link that is just being sent is known, if the consumer speaks of it.
        link = transfer.link or (transfer.handover and link_of(transfer.handover))
        return await self._moved(sender, TransferState.SUSPENDED, is_paused=True, link=link)

    async def complete(self, sender: Sender) -> Transfer:
        """Receive the file as it was described, with nothing compared."""
        transfer = await self._locked(sender)
        transfer.require("completing", TransferState.STARTED)
        if transfer.request.state is RequestState.DELIVERED and transfer.handover is not None:
            file = transfer.handover
            verdict = Verification(file.sha256, file.size, file.records, NOTHING_REQUIRED, 0, 0, ())
            await self._verifications.take(sender.caller, transfer.request.id, Action.RECEIVE, verdict, None)
        return await self._moved(sender, TransferState.COMPLETED)

    async def terminate(self, sender: Sender, reason: str | None) -> Transfer:
        """End a transfer. With a reason, the delivery is disputed; without one, another transfer can follow."""
        transfer = await self._locked(sender)
        transfer.require("terminating", *OPEN_TRANSFER)
        if reason is not None and transfer.request.state is RequestState.DELIVERED:
            verdict = Verification(None, None, None, NOTHING_REQUIRED, 0, 0, ())
            await self._verifications.take(sender.caller, transfer.request.id, Action.DISPUTE, verdict, reason)
        return await self._moved(sender, TransferState.TERMINATED)
