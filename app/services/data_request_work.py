"""What the service itself does with requests for data: it answers them, lets them expire, and ends them."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from app.catalog.stores.advice import AdviceStore
from app.catalog.stores.data_requests import DataRequestStore
from app.catalog.stores.events import EventStore
from app.domain.advice import Advice, Problem
from app.domain.data_requests import Action, Change, Cost, DataRequest, Side, cost_of
from app.services.views import shown

_SERVICE = frozenset({Side.SERVICE})


class DataRequestWork:
    """The service's side of requests. Each call belongs in a short transaction."""

    def __init__(self, requests: DataRequestStore, advice: AdviceStore, events: EventStore) -> None:
        self._requests = requests
        self._advice = advice
        self._events = events

    async def settle(self) -> int:
        """Answer some requests whose advice is finished; how many."""
        answered = await self._requests.answered()
        for request in answered:
            await self.settle_one(request)
        return len(answered)

    async def settle_one(self, request: DataRequest) -> None:
        """Answer a request whose advice is finished. It must be locked."""
        advice = None if request.advice_id is None else await self._advice.find(request.advice_id)
        result = None if advice is None else shown(advice, request.view)
        if result is None:
            await self._change(request, Action.FAIL, problem=_problem_of(advice))
        else:
            await self._offer(request, result)

    async def _offer(self, request: DataRequest, result: Mapping[str, Any]) -> None:
        configuration = result["configuration"]
        await self._change(
            request, Action.ADVISE, configuration=configuration, cost=cost_of(configuration, result["ranking"])
        )

    async def expire(self, age: timedelta) -> int:
        """End some requests with which nobody has done anything for so long; how many."""
        untouched = await self._requests.untouched(age)
        for request in untouched:
            await self._change(request, Action.EXPIRE, f"Nobody has done anything for {age.days} days.")
        return len(untouched)

    async def end_for_entry(self, entry_id: str) -> None:
        """End the open requests for an entry, since it is deleted."""
        for request in await self._requests.open_for(entry_id):
            await self._change(request, Action.END, "The entry was deleted.")

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
        await self._events.request_changed(request.id)


def _problem_of(advice: Advice | None) -> Problem:
    if advice is None or advice.problem is None:
        return Problem("deleted", "The advice is not kept any more. Make a new request.")
    return advice.problem
