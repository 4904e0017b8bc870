"""What is due to be sent to counterparts, and what became of it, for workers."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic

from app.dataspace.model.offers import Offer
from app.dataspace.model.processes import Message, wait_after
from app.dataspace.service.offers import OfferService
from app.dataspace.store import AnyProcess, ProcessStore
from app.requests.model.data_requests import Change, DataRequest
from app.requests.model.data_requests import State as RequestState
from app.requests.store.data_requests import DataRequestStore
from app.webhooks.model import Outcome


@dataclass(frozen=True, slots=True)
class Due(Generic[AnyProcess]):
    """A message that is due.

    Attributes:
        then: the state of the process once it is acknowledged.
        offer: what is offered or agreed; None for messages that do not say it.
        agreed_at: when that was approved.
        reason: why the process ends, if somebody said so.
    """

    process: AnyProcess
    message: Message
    then: str
    offer: Offer | None = None
    agreed_at: datetime | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class SendingService(Generic[AnyProcess]):
    """Messages about processes of one kind. Every call belongs in a short transaction."""

    _processes: ProcessStore[AnyProcess]
    _offers: OfferService
    _requests: DataRequestStore

    async def claim(self) -> Due[AnyProcess] | None:
        """Claim the message that has been due for longest; None if there is none."""
        claimed = await self._processes.claim()
        process = None if claimed is None else await self._processes.find(claimed)
        return None if process is None else await self.due(process)

    async def due(self, process: AnyProcess) -> Due[AnyProcess] | None:
        """The message that is due in a process; None if there is none."""
        if process.step is None:
            return None
        message, then = process.step
        changes = await self._requests.changes(process.request.id)
        says_it = message in (Message.OFFER, Message.AGREE)
        offer = await self._offers.of_request(process.request) if says_it else None
        return Due(process, message, then.value, offer, agreed_at(changes), _reason(process.request, changes))

    async def said(self, process: AnyProcess) -> Due[AnyProcess]:
        """What a counterpart that polls has been offered or has agreed on, and why that is over."""
        changes = await self._requests.changes(process.request.id)
        offer = None if process.request.configuration is None else await self._offers.of_request(process.request)
        return Due(
            process, Message.AGREE, process.shown.value, offer, agreed_at(changes), _reason(process.request, changes)
        )

    async def record(self, due: Due[AnyProcess], outcome: Outcome) -> None:
        """Store the outcome of an attempt. A counterpart that is never reached is given up: the process is over."""
        process = due.process
        if outcome.is_success:
            await self._processes.acknowledged(process, due.then)
        elif (wait := wait_after(process.attempts)) is None:
            await self._processes.acknowledged(process, "TERMINATED")
        else:
            await self._processes.failed(process, max(wait, outcome.retry_after or wait))


def agreed_at(changes: Sequence[Change]) -> datetime | None:
    """When a request was approved; None if it was not."""
    return next((change.at for change in changes if change.state is RequestState.APPROVED), None)


def _reason(request: DataRequest, changes: Sequence[Change]) -> str | None:
    """Why a request is as it is, as far as the counterpart may read it, like its whole history."""
    if request.problem is not None:
        return request.problem.detail
    return changes[-1].reason if changes else None
