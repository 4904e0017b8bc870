"""Negotiations of contracts by the Dataspace Protocol, each of which is a data request."""

from dataclasses import dataclass
from typing import Final

from app.advice.model import USUAL, AdviceQuestion
from app.advice.service.advice import QuestionRules
from app.dataspace.model.offers import Offered
from app.dataspace.model.processes import OPEN_NEGOTIATION, Negotiation, NegotiationState, process_id_of
from app.dataspace.service.offers import OfferService
from app.dataspace.store import NegotiationStore, NewProcess
from app.entries.model.configurations import GENERATED, MASKED
from app.platform.callers import Caller
from app.platform.errors import Fault, InvalidDocumentError, NotFoundError
from app.requests.model.data_requests import BEFORE_DELIVERY, Action, DataRequest, NewDataRequest, Side
from app.requests.model.data_requests import State as RequestState
from app.requests.service.data_requests import DataRequestService

_ASKED_ANEW: Final = "The consumer asked for another offer. The catalogue has those that can be granted."
_UNSAID: Final = "Not stated: requested over the Dataspace Protocol"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a consumer asks for.

    Attributes:
        purpose: the purpose of its offer; None if it states none.
    """

    offered: Offered
    purpose: str | None = None


@dataclass(frozen=True, slots=True)
class NegotiationService:
    """The consumer's messages about negotiations.

    Raises:
        NotFoundError: by all with the id of a negotiation: there is none, or it is not the caller's.
        ActionNotPossibleError: by all of these: it is not possible in the present state.
        InvalidDocumentError: by all of these: the consumer's id is another one.
    """

    _negotiations: NegotiationStore
    _offers: OfferService
    _requests: DataRequestService

    async def request(self, caller: Caller, new: NewProcess, wanted: Wanted, rules: QuestionRules) -> Negotiation:
        """Begin a negotiation. One that has begun with the same id of the consumer is returned as it is.

        Raises:
            NotFoundError: there is no such offer, or the caller may not see it.
            RefusalError: as a data request is refused.
            InvalidDocumentError: the caller has just used the id for another negotiation.
        """
        known = await self._negotiations.of_consumer(caller.tenant, new.consumer_pid)
        if known is not None:
            return known
        request = await self._new_request(caller, wanted, rules)
        added = await self._negotiations.add(caller.tenant, new, request.id)
        if added is None:
            raise InvalidDocumentError("Your tenant has just used this consumerPid.", (_OTHER_PID,))
        return await self.find(caller, added)

    async def find(self, caller: Caller, pid: str, *, lock: bool = False) -> Negotiation:
        """A negotiation of the caller."""
        negotiation = await self._negotiations.find(process_id_of(pid), lock=lock)
        if negotiation is None or not is_consumer(caller, negotiation.request):
            raise NotFoundError(f"There is no negotiation {pid}, or you may not see it.")
        return negotiation

    async def counter(
        self, caller: Caller, pid: str, consumer_pid: str, wanted: Wanted | None, rules: QuestionRules
    ) -> Negotiation:
        """Ask for another offer than the provider's: withdraw the request, and make another one.

        Args:
            wanted: the offer; None for one that is not the provider's, which ends the negotiation.

        Raises:
            NotFoundError: there is no such offer, or the caller may not see it.
            RefusalError: as a data request is refused.
        """
        negotiation = await self._own(caller, pid, consumer_pid)
        if caller.tenant != negotiation.request.consumer:  # an operator's request would be its own tenant's
            raise NotFoundError(f"There is no negotiation {pid} of your tenant.")
        negotiation.require("a counter-offer", NegotiationState.OFFERED)
        if negotiation.request.state is RequestState.COUNTERED:
            await self._requests.act(caller, negotiation.request.id, Action.WITHDRAW, _ASKED_ANEW)
        if wanted is None:
            await self._negotiations.set_state(negotiation.id, NegotiationState.REQUESTED.value)
        else:
            request = await self._new_request(caller, wanted, rules)
            await self._negotiations.set_request(negotiation.id, request.id)
        return await self.find(caller, pid)

    async def accept(self, caller: Caller, pid: str, consumer_pid: str) -> Negotiation:
        """Accept the provider's offer.

        Raises:
            NotComposedError: the provider's policy forbids it beside what was granted since the offer.
        """
        negotiation = await self._own(caller, pid, consumer_pid)
        negotiation.require("accepting", NegotiationState.OFFERED)
        await self._requests.accept(caller, negotiation.request.id, None)
        await self._negotiations.set_state(negotiation.id, NegotiationState.ACCEPTED.value)
        return await self.find(caller, pid)

    async def verify(self, caller: Caller, pid: str, consumer_pid: str) -> Negotiation:
        """Confirm the agreement."""
        negotiation = await self._own(caller, pid, consumer_pid)
        negotiation.require("verifying an agreement", NegotiationState.AGREED)
        await self._negotiations.set_state(negotiation.id, NegotiationState.VERIFIED.value)
        return await self.find(caller, pid)

    async def terminate(self, caller: Caller, pid: str, consumer_pid: str, reason: str | None) -> Negotiation:
        """End the negotiation, and withdraw the request unless the table is delivered."""
        negotiation = await self._own(caller, pid, consumer_pid)
        negotiation.require("terminating", *OPEN_NEGOTIATION)
        if negotiation.request.state in BEFORE_DELIVERY:
            await self._requests.act(caller, negotiation.request.id, Action.WITHDRAW, reason)
        await self._negotiations.set_state(negotiation.id, NegotiationState.TERMINATED.value)
        return await self.find(caller, pid)

    async def _own(self, caller: Caller, pid: str, consumer_pid: str) -> Negotiation:
        """A locked negotiation, which the consumer calls by its own id."""
        negotiation = await self.find(caller, pid, lock=True)
        refuse_other_pid(negotiation.consumer_pid, consumer_pid)
        return negotiation

    async def _new_request(self, caller: Caller, wanted: Wanted, rules: QuestionRules) -> DataRequest:
        """A data request for the configuration of an offer, by the entry's usual question, under the offer's terms."""
        offer = await self._offers.named(caller, wanted.offered)
        question = AdviceQuestion(USUAL, kinds=(GENERATED if offer.is_generated else MASKED,))
        asked = NewDataRequest(
            question=question,
            purpose=wanted.purpose or _UNSAID,
            contact=f"{caller.subject or caller.tenant}, over the Dataspace Protocol",
            terms=offer.terms,
            configuration=wanted.offered.configuration,
        )
        return await self._requests.create(caller, wanted.offered.entry_id, wanted.offered.version, asked, rules)


def is_consumer(caller: Caller, request: DataRequest) -> bool:
    """Whether the caller is the counterpart in a process about a request."""
    return Side.CONSUMER in request.sides_of(caller) and request.is_visible_to(caller)


def refuse_other_pid(known: str, given: str) -> None:
    """Refuse a message with another id of the consumer.

    Raises:
        InvalidDocumentError: it is another one.
    """
    if known != given:
        raise InvalidDocumentError("The process has another consumerPid.", (_OTHER_PID,))


_OTHER_PID: Final = Fault("/consumerPid", "Give the id with which the process was begun, and each process its own.")
