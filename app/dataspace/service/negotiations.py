"""Negotiations of contracts by the Dataspace Protocol, each of which is a data request."""

from dataclasses import dataclass
from typing import Final

from app.advice.model import USUAL, AdviceQuestion
from app.advice.service.advice import QuestionRules
from app.dataspace.model.offers import Offered
from app.dataspace.model.processes import OPEN_NEGOTIATION, Negotiation, NegotiationState
from app.dataspace.service.offers import OfferService
from app.dataspace.service.processes import OTHER_PID, ProcessService, Sender
from app.dataspace.store import NegotiationStore, NewProcess
from app.entries.model.configurations import GENERATED, MASKED
from app.platform.callers import Caller
from app.platform.errors import InvalidDocumentError, NotFoundError
from app.requests.model.data_requests import BEFORE_DELIVERY, Action, DataRequest, NewDataRequest
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
class NegotiationService(ProcessService[Negotiation]):
    """The consumer's messages about negotiations.

    Raises:
        NotFoundError: by all of these: there is no such negotiation, or it is not the caller's.
        ActionNotPossibleError: by all of these: it is not possible in the present state.
        InvalidDocumentError: by all of these: the consumer's id is another one.
    """

    _processes: NegotiationStore
    _offers: OfferService
    _requests: DataRequestService
    _noun = "negotiation"

    async def request(self, caller: Caller, new: NewProcess, wanted: Wanted, rules: QuestionRules) -> Negotiation:
        """Begin a negotiation. One that has begun with the same id of the consumer is returned as it is.

        Raises:
            NotFoundError: there is no such offer, or the caller may not see it.
            RefusalError: as a data request is refused.
            InvalidDocumentError: the caller has just used the id for another negotiation.
        """
        known = await self._processes.of_consumer(caller.tenant, new.consumer_pid)
        if known is not None:
            return known
        request = await self._new_request(caller, wanted, rules)
        added = await self._processes.add(caller.tenant, new, request.id)
        if added is None:
            raise InvalidDocumentError("Your tenant has just used this consumerPid.", (OTHER_PID,))
        return await self.find(caller, added)

    async def counter(self, sender: Sender, wanted: Wanted | None, rules: QuestionRules) -> Negotiation:
        """Ask for another offer than the provider's: withdraw the request, and make another one.

        Args:
            wanted: the offer; None for one that is not the provider's, which ends the negotiation.

        Raises:
            NotFoundError: there is no such offer, or the caller may not see it.
            RefusalError: as a data request is refused.
        """
        negotiation = await self._locked(sender)
        if sender.caller.tenant != negotiation.request.consumer:  # an operator's request would be its own tenant's
            raise NotFoundError(f"There is no negotiation {sender.pid} of your tenant.")
        negotiation.require("a counter-offer", NegotiationState.OFFERED)
        if negotiation.request.state is RequestState.COUNTERED:
            await self._requests.act(sender.caller, negotiation.request.id, Action.WITHDRAW, _ASKED_ANEW)
        if wanted is not None:
            request = await self._new_request(sender.caller, wanted, rules)
            await self._processes.set_request(negotiation.id, request.id)
        return await self._moved(sender, NegotiationState.REQUESTED)

    async def accept(self, sender: Sender) -> Negotiation:
        """Accept the provider's offer.

        Raises:
            NotComposedError: the provider's policy forbids it beside what was granted since the offer.
        """
        negotiation = await self._locked(sender)
        negotiation.require("accepting", NegotiationState.OFFERED)
        await self._requests.accept(sender.caller, negotiation.request.id, None)
        return await self._moved(sender, NegotiationState.ACCEPTED)

    async def verify(self, sender: Sender) -> Negotiation:
        """Confirm the agreement."""
        negotiation = await self._locked(sender)
        negotiation.require("verifying an agreement", NegotiationState.AGREED)
        return await self._moved(sender, NegotiationState.VERIFIED)

    async def terminate(self, sender: Sender, reason: str | None) -> Negotiation:
        """End the negotiation, and withdraw the request unless the table is delivered."""
        negotiation = await self._locked(sender)
        negotiation.require("terminating", *OPEN_NEGOTIATION)
        if negotiation.request.state in BEFORE_DELIVERY:
            await self._requests.act(sender.caller, negotiation.request.id, Action.WITHDRAW, reason)
        return await self._moved(sender, NegotiationState.TERMINATED)

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
