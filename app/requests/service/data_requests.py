"""Data requests of consumers, the decisions of providers, and the steps that all services share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import groupby
from typing import Any, Final

import msgspec
from anyio import to_thread

from app.advice.model import Advice, View
from app.advice.service.advice import AdviceService, QuestionRules
from app.advice.service.views import shown, view_for
from app.advice.store.advice import AdviceStore
from app.audit.model import AuditAction, AuditRecord
from app.audit.store import AuditStore
from app.entries.model.documents import read_as
from app.entries.model.entries import Head
from app.entries.service.catalogue import EntryFollower
from app.entries.store.entries import EntryStore
from app.platform.callers import Caller, Role
from app.platform.errors import (
    EnoughGrantedError,
    Fault,
    InvalidDocumentError,
    NotComposedError,
    NotFoundError,
    QuotaExceededError,
    RoleNotAllowedError,
    some,
)
from app.platform.queue.model import Problem
from app.requests.model.composition import Composition
from app.requests.model.data_requests import (
    HANDED_OVER,
    Action,
    Change,
    Cost,
    DataRequest,
    DataRequestPage,
    FullRank,
    Handover,
    NewDataRequest,
    Side,
    State,
    Verification,
    configuration_of,
    cost_of,
    sides_able_to,
)
from app.requests.service.composition import CompositionService
from app.requests.store.data_requests import DataRequestStore, Wanted
from app.requests.store.handovers import HandoverStore
from app.webhooks.store.events import EventStore


@dataclass(frozen=True, slots=True)
class DataRequestSteps:
    """Reads requests for callers and takes their actions.

    Raises:
        NotFoundError: by all with the id of a request: there is none, or the caller may not see it.
        RoleNotAllowedError: by all actions: the caller may not do this.
        ActionNotPossibleError: by all actions: it is not possible in the present state.
    """

    _requests: DataRequestStore
    _events: EventStore

    async def read(self, caller: Caller, request_id: str, *, lock: bool = False) -> DataRequest:
        """A request of the caller's tenant or for its entries. One that is locked has every member."""
        request = await self._requests.find(request_id, lock=lock)
        if request is None or not request.is_visible_to(caller):
            raise NotFoundError(f"There is no request {request_id}, or you may not see it.")
        return request if lock else request.seen_by(caller)

    async def take(
        self,
        caller: Caller,
        request: DataRequest,
        action: Action,
        reason: str | None = None,
        configuration: str | None = None,
        cost: Cost | None = None,
        beside: str | None = None,
    ) -> DataRequest:
        """Take an action on a locked request; return the changed request."""
        sides = request.sides_of(caller)
        state = request.after(action, sides)
        # A caller with several sides acts for the first one that is able to.
        able = sides_able_to(action) & sides
        side = next(side for side in Side if side in able)
        change = Change(action, state, side, caller.tenant, caller.subject, reason, configuration, beside)
        await self._requests.change(request.id, change, cost=cost)
        await self._events.requests_changed([request.id])
        return await self.read(caller, request.id)


@dataclass(frozen=True, slots=True)
class DataRequestWork(EntryFollower):
    """The service's own actions: it answers, expires and ends requests. Every call belongs in a short transaction."""

    _requests: DataRequestStore
    _entries: EntryStore
    _advice: AdviceStore
    _events: EventStore

    async def settle(self) -> int:
        """Answer some requests whose advice is finished; return their number."""
        answered = await self._requests.answered()

        def asked(request: DataRequest) -> tuple[str, bool]:
            return request.advice_id or "", request.is_coarse

        for _, requests in groupby(sorted(answered, key=asked), key=asked):
            await self.answer(list(requests))
        return len(answered)

    async def answer(self, requests: Sequence[DataRequest]) -> None:
        """Answer requests for the same finished advice and view, which must be locked."""
        first = requests[0]
        advice = None if first.advice_id is None else await self._advice.find(first.advice_id)
        # Decoding a long ranking takes a while.
        result = None if advice is None else await to_thread.run_sync(shown, advice, first.view)
        for request in requests:
            # With the least rights, since all keys of the tenant may read a request.
            consumer = Caller(request.consumer, frozenset({Role.CONSUMER}))
            head = await self._entries.find(consumer, request.entry_id, request.version)
            if head is None or not head.is_visible_to(consumer):
                await self._change(request, Action.FAIL, problem=_NOT_SEEN)
            elif result is None:
                problem = None if advice is None else advice.problem
                await self._change(request, Action.FAIL, problem=problem or _DELETED)
            else:
                configuration = request.configuration or result["configuration"]
                cost = cost_of(configuration, result["ranking"])
                await self._change(request, Action.ADVISE, configuration=configuration, cost=cost)

    async def expire(self, age: timedelta) -> int:
        """Expire some requests without an action for `age`; return their number."""
        untouched = await self._requests.untouched(age)
        for request in untouched:
            await self._change(request, Action.EXPIRE, f"Nobody acted for {age.days} days.")
        return len(untouched)

    async def entry_ending(self, entry_id: str) -> None:
        """End the open requests for a deleted entry."""
        ended = await self._requests.end_for(entry_id, "The entry was deleted.")
        await self._events.requests_changed(ended)

    async def _change(
        self,
        request: DataRequest,
        action: Action,
        reason: str | None = None,
        *,
        configuration: str | None = None,
        cost: Cost | None = None,
        problem: Problem | None = None,
    ) -> None:
        state = request.after(action, frozenset({Side.SERVICE}))
        change = Change(action, state, Side.SERVICE, reason=reason, configuration=configuration)
        await self._requests.change(request.id, change, cost=cost, problem=problem)
        await self._events.requests_changed([request.id])


@dataclass(frozen=True, slots=True)
class _Place:
    configuration: str
    rank: int


@dataclass(frozen=True, slots=True)
class _FullOrder:
    configuration: str
    considered: int
    ranking: Sequence[_Place]
    names: Mapping[str, str] = field(default_factory=dict)


_NOT_SEEN = Problem("not_found", "You may no longer see the entry.")
_DELETED = Problem("deleted", "The advice has been deleted. Make a new request.")

#: The most open requests of a tenant.
MOST_OPEN: Final = 1_000

#: The states with a configuration that was or may be granted.
_AGREED: Final = (State.ADVISED, State.COUNTERED, State.APPROVED, *HANDED_OVER)


@dataclass(frozen=True, slots=True)
class DataRequestService(DataRequestSteps):
    """Data requests, for their consumers and providers. It refuses what `DataRequestSteps` does."""

    _entries: EntryStore
    _advice_store: AdviceStore
    _advice: AdviceService
    _work: DataRequestWork
    _handovers: HandoverStore
    _audit: AuditStore
    _composition: CompositionService

    async def create(
        self, caller: Caller, entry_id: str, version: int | None, asked: NewDataRequest, rules: QuestionRules
    ) -> DataRequest:
        """Request a masked table, and the advice on it in the caller's own view: the first of it, or the one asked for.

        Raises:
            NotFoundError: there is no such entry or version, or the caller may not see it.
            InvalidDocumentError: the accepted terms are not the entry's, the question cannot be answered, or the
                configuration asked for does not meet its requirements.
            BudgetSpentError: the caller's tenant has used up its distinct questions about the version.
            QuotaSpentError: it has used up its distinct questions of a day.
            QuotaExceededError: it has too many open requests.
        """
        # A request is for its tenant, so it is about a version that all keys of the tenant see.
        tenant = replace(caller, roles=frozenset({Role.CONSUMER}))
        head = await self._head(tenant, entry_id, version)
        if asked.terms != head.terms:
            fault = Fault("/terms", f"The terms of version {head.version} have the digest {head.terms}.")
            raise InvalidDocumentError("These are not the terms of the entry.", (fault,), code="other_terms")
        if await self._requests.count_open(caller.tenant) >= MOST_OPEN:
            raise QuotaExceededError(f"Your tenant has {MOST_OPEN} open requests, the most that it may have.")
        question, _ = await self._advice.ask(caller, head, asked.question, rules)
        advice = await self._held(question.advice_id)
        asked, is_coarse = replace(asked, question=advice.question), view_for(caller, head) is View.COARSE
        if asked.configuration is not None:
            await self._advice.refuse_unsuitable(head, asked.question, asked.configuration)
        request_id = await self._requests.add(
            caller,
            head,
            asked,
            question.id,
            advice.id,
            is_coarse=is_coarse,
            table=await self._composition.table_of(head),
        )
        # It has no previous state, so this is not an action.
        begun = Change(
            "request", State.REQUESTED, Side.CONSUMER, caller.tenant, caller.subject, configuration=asked.configuration
        )
        await self._requests.change(request_id, begun)
        await self._events.requests_changed([request_id])
        if advice.status.is_final:
            await self._work.answer([await self.read(caller, request_id, lock=True)])
        return await self.read(caller, request_id)

    async def _head(self, caller: Caller, entry_id: str, version: int | None) -> Head:
        """The head of an entry that the caller may see, locked against deletion until the transaction ends."""
        head = await self._entries.find(caller, entry_id, version)
        if head is None or not head.is_visible_to(caller) or not await self._entries.hold(entry_id):
            raise NotFoundError(f"There is no entry {entry_id}, or you may not see it.")
        return head

    async def _held(self, advice_id: str) -> Advice:
        """The advice with this id, locked so that it is not finished before the request is visible."""
        await self._advice_store.hold(advice_id)
        advice = await self._advice_store.find(advice_id)
        if advice is None:
            raise NotFoundError("The advice that answers this has just been deleted. Ask again.")
        return advice

    async def history(
        self, caller: Caller, request: DataRequest
    ) -> tuple[list[Change], Handover | None, Verification | None]:
        """The changes of a request that the caller may see, oldest first, its delivery, and the verification."""
        verification = await self._handovers.verification(request.id)
        if verification is not None:
            verification = verification.seen_by(caller, request)
        return await self._requests.changes(request.id), await self._handovers.find(request.id), verification

    async def page(self, caller: Caller, wanted: Wanted, limit: int, page_token: str | None) -> DataRequestPage:
        """A page of the requests of the caller's tenant and for its entries; operators see all.

        Raises:
            InvalidDocumentError: the page token is invalid.
        """
        page = await self._requests.page(caller, wanted, limit, page_token)
        return replace(page, items=tuple(one.seen_by(caller) for one in page.items))

    async def act(self, caller: Caller, request_id: str, action: Action, reason: str | None) -> DataRequest:
        """Decline, withdraw or end a request."""
        request = await self.read(caller, request_id, lock=True)
        return await self.take(caller, request, action, reason)

    async def accept(self, caller: Caller, request_id: str, reason: str | None) -> DataRequest:
        """Accept the offer of a provider.

        Raises:
            NotComposedError: the provider's policy forbids it beside what was granted since the offer.
        """
        request = await self.read(caller, request_id, lock=True)
        request.after(Action.ACCEPT, request.sides_of(caller))
        offer = next(one for one in reversed(await self._requests.changes(request.id)) if one.action == Action.COUNTER)
        beside = await self._beside(caller, request, offered=offer.beside)
        return await self.take(caller, request, Action.ACCEPT, reason, beside=beside)

    async def composition(self, caller: Caller, request: DataRequest, *, lock: bool = False) -> Composition | None:
        """What a request's consumer was granted of the same table besides; None if nothing, or nothing is agreed."""
        is_agreed = request.configuration is not None and request.state in _AGREED
        if not is_agreed or not (granted := await self._composition.granted(request, lock=lock)):
            return None
        is_decided = request.state not in (State.ADVISED, State.COUNTERED)
        ranking = [] if is_decided else await self._ranking(request, request.view)
        return await self._composition.compare(caller, request, granted, [*map(configuration_of, ranking)])

    async def _beside(
        self, caller: Caller, request: DataRequest, *, accepts: bool = False, offered: str | None = None
    ) -> str | None:
        """What a locked request's configuration is granted beside, although the policy forbids it; None if it does not.

        Args:
            caller: who grants it.
            request: with the configuration.
            accepts: whether the provider accepts it.
            offered: beside what the provider has offered it.

        Raises:
            NotComposedError: the policy forbids it, and the provider does not accept it.
        """
        composition = await self.composition(caller, request, lock=True)
        if composition is None or composition.is_kept:
            return None
        beside = some([str(one) for one in composition.unrelated], 5)
        if not accepts and offered != beside:
            detail = composition.refusal(request.consumer, request.configuration or "", beside)
            raise NotComposedError(detail, composition.allowed)
        return beside

    async def approve(
        self,
        caller: Caller,
        request_id: str,
        reason: str | None,
        limit: tuple[int, int] | None,
        *,
        accept_composition: bool = False,
    ) -> DataRequest:
        """Approve a request unless its consumer has reached the limit: a number of grants within a number of days.

        Raises:
            EnoughGrantedError: the limit is reached.
            NotComposedError: the policy forbids it beside what the consumer has, and this is not accepted.
        """
        request = await self.read(caller, request_id, lock=True)
        request.after(Action.APPROVE, request.sides_of(caller))
        if limit is not None:
            most, days = limit
            if await self._requests.count_granted(request, timedelta(days=days)) >= most:
                raise EnoughGrantedError(f"{request.consumer} was granted {most} requests or more in {days} days.")
        beside = await self._beside(caller, request, accepts=accept_composition)
        return await self.take(caller, request, Action.APPROVE, reason, beside=beside)

    async def counter(
        self,
        caller: Caller,
        request_id: str,
        configuration: str,
        reason: str | None,
        *,
        accept_composition: bool = False,
    ) -> DataRequest:
        """Offer another configuration of those that meet what the consumer requires.

        Raises:
            InvalidDocumentError: the configuration is not one of those.
            NotComposedError: the policy forbids it beside what the consumer has, and this is not accepted.
        """
        request = await self.read(caller, request_id, lock=True)
        request.after(Action.COUNTER, request.sides_of(caller))
        what, cost = "is what the consumer asks for; approve it", None
        if configuration != request.configuration:
            cost = cost_of(configuration, await self._ranking(request, request.view))
            what = "is not in the ranking of the consumer's advice"
        if cost is None:
            fault = Fault("/configuration", f"The configuration {configuration!r} {what}.")
            detail = "This configuration cannot be offered instead."
            raise InvalidDocumentError(detail, (fault,), code="no_counter_offer")
        offered = replace(request, configuration=configuration)
        beside = await self._beside(caller, offered, accepts=accept_composition)
        return await self.take(caller, request, Action.COUNTER, reason, configuration, cost, beside)

    async def alternatives(self, caller: Caller, request: DataRequest, limit: int) -> list[tuple[str, Cost]]:
        """The configurations that the caller may offer instead of the advised one, with their costs, the best first.

        Who may offer reads the counts, so costs and order are those of the full view. Empty if the caller may not make
        an offer now.
        """
        if Action.COUNTER not in request.possible_for(request.sides_of(caller)):
            return []
        ranking = await self._ranking(request, View.FULL)
        ranking = [row for row in ranking if row["configuration"] != request.configuration]
        return [(row["configuration"], msgspec.convert(row, Cost)) for row in ranking[:limit]]

    async def full_rank(self, caller: Caller, request: DataRequest) -> FullRank | None:
        """The place of a request's configuration in the full view; None without advice, or for callers without it."""
        is_shown = request.configuration is not None and request.shows_full_view_to(caller)
        advice = await self._advice_store.find(request.advice_id) if is_shown and request.advice_id else None
        if advice is None or advice.result is None:
            return None
        order = await to_thread.run_sync(read_as, _FullOrder, advice.result)
        ranks = (row.rank for row in order.ranking if row.configuration == request.configuration)
        best = order.configuration
        return FullRank(next(ranks, None), order.considered, best, order.names.get(best))

    async def _ranking(self, request: DataRequest, view: View) -> list[Mapping[str, Any]]:
        """The ranking of a request's advice in a view; empty if the advice has been deleted."""
        advice = None if request.advice_id is None else await self._advice_store.find(request.advice_id)
        # Decoding a long ranking takes a while.
        result = None if advice is None else await to_thread.run_sync(shown, advice, view)
        return [] if result is None else result["ranking"]

    async def erase_contact(self, caller: Caller, request_id: str) -> DataRequest:
        """Delete the contact of a request; its history stays.

        Raises:
            RoleNotAllowedError: the caller is not of the consumer's tenant.
        """
        request = await self.read(caller, request_id, lock=True)
        if Side.CONSUMER not in request.sides_of(caller):
            raise RoleNotAllowedError("Only the tenant that made a request, and operators, may erase its contact.")
        if await self._requests.erase_contact(request.id):
            record = AuditRecord(AuditAction.ERASE_CONTACT, entry_id=request.entry_id, request_id=request.id)
            await self._audit.add(record, caller)
        return await self.read(caller, request_id)
