"""The service's own actions on data requests: it answers, expires and ends them."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import groupby
from typing import Any

from anyio import to_thread

from app.advice.model import Advice
from app.advice.service.views import shown
from app.advice.store.advice import AdviceStore
from app.entries.service.catalogue import EntryFollower
from app.entries.store.entries import EntryStore
from app.platform.queue.model import Problem
from app.requests.model.data_requests import Action, Change, Cost, DataRequest, Side, cost_of
from app.requests.store.data_requests import DataRequestStore
from app.webhooks.store.events import EventStore

_SERVICE = frozenset({Side.SERVICE})


class DataRequestWork(EntryFollower):
    """The service's side of requests. Every call belongs in a short transaction."""

    def __init__(
        self, requests: DataRequestStore, entries: EntryStore, advice: AdviceStore, events: EventStore
    ) -> None:
        self._requests = requests
        self._entries = entries
        self._advice = advice
        self._events = events

    async def settle(self) -> int:
        """Answer some requests whose advice is finished; return their number."""
        answered = await self._requests.answered()
        by_advice = groupby(sorted(answered, key=_advice_of), key=_advice_of)
        for _, requests in by_advice:
            await self._settle(list(requests))
        return len(answered)

    async def settle_one(self, request: DataRequest) -> None:
        """Answer a request whose advice is finished. It must be locked."""
        await self._settle([request])

    async def _settle(self, requests: Sequence[DataRequest]) -> None:
        """Answer requests for the same advice and view, which must be locked."""
        first = requests[0]
        advice = None if first.advice_id is None else await self._advice.find(first.advice_id)
        # Decoding a long ranking takes a while.
        result = None if advice is None else await to_thread.run_sync(shown, advice, first.view)
        for request in requests:
            if not await self._sees(request):
                await self._change(request, Action.FAIL, problem=_NOT_SEEN)
            elif result is None:
                await self._change(request, Action.FAIL, problem=_problem_of(advice))
            else:
                await self._offer(request, result)

    async def _sees(self, request: DataRequest) -> bool:
        """Whether the consumer still sees the requested version."""
        head = await self._entries.find(request.as_consumer, request.entry_id, request.version)
        return head is not None and head.is_visible_to(request.as_consumer)

    async def _offer(self, request: DataRequest, result: Mapping[str, Any]) -> None:
        configuration = result["configuration"]
        await self._change(
            request, Action.ADVISE, configuration=configuration, cost=cost_of(configuration, result["ranking"])
        )

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
        state = request.after(action, _SERVICE)
        change = Change(action, state, Side.SERVICE, reason=reason, configuration=configuration)
        await self._requests.change(request.id, change, cost=cost, problem=problem)
        await self._events.requests_changed([request.id])


_NOT_SEEN = Problem("not_found", "You may no longer see the entry.")


def _advice_of(request: DataRequest) -> tuple[str, bool]:
    return request.advice_id or "", request.is_coarse


def _problem_of(advice: Advice | None) -> Problem:
    if advice is None or advice.problem is None:
        return Problem("deleted", "The advice has been deleted. Make a new request.")
    return advice.problem
