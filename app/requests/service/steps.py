"""Steps that callers take with data requests: each locks the request, changes it, and tells both sides."""

from app.platform.callers import Caller
from app.platform.errors import NotFoundError
from app.requests.model.data_requests import Action, Change, Cost, DataRequest, Side, State, sides_able_to
from app.requests.store.data_requests import DataRequestStore
from app.webhooks.store.events import EventStore


class DataRequestSteps:
    """Reads requests for callers, and takes their steps."""

    def __init__(self, requests: DataRequestStore, events: EventStore) -> None:
        self._requests = requests
        self._events = events

    async def read(self, caller: Caller, request_id: str) -> DataRequest:
        """A request of the caller's tenant or for its entries.

        Raises:
            NotFoundError: there is no such request, or the caller may not see it.
        """
        return _visible(caller, request_id, await self._requests.find(request_id)).seen_by(caller)

    async def locked(self, caller: Caller, request_id: str) -> DataRequest:
        """The same, locked until the transaction ends, and with all that the service knows of it.

        Raises:
            NotFoundError: there is no such request, or the caller may not see it.
        """
        return _visible(caller, request_id, await self._requests.find(request_id, lock=True))

    async def begin(self, caller: Caller, request_id: str) -> None:
        """Store the first change of a request that was just added. There is nothing before it, so it is no action."""
        change = Change("request", State.REQUESTED, Side.CONSUMER, tenant=caller.tenant, subject=caller.subject)
        await self._requests.change(request_id, change)
        await self._events.requests_changed([request_id])

    async def take(
        self,
        caller: Caller,
        request: DataRequest,
        action: Action,
        reason: str | None = None,
        configuration: str | None = None,
        cost: Cost | None = None,
    ) -> DataRequest:
        """Take a step with a locked request, and return the request as it is then.

        Raises:
            RoleNotAllowedError: the caller may not do this.
            ActionNotPossibleError: it is not possible in the present state.
        """
        sides = request.sides_of(caller)
        state, side = request.after(action, sides), _acting(action, sides)
        change = Change(action, state, side, caller.tenant, caller.subject, reason, configuration)
        await self._requests.change(request.id, change, cost=cost)
        await self._events.requests_changed([request.id])
        return await self.read(caller, request.id)


def _acting(action: Action, sides: frozenset[Side]) -> Side:
    """The side for which somebody acts who is on several."""
    able = sides_able_to(action) & sides
    return next(side for side in Side if side in able)


def _visible(caller: Caller, request_id: str, request: DataRequest | None) -> DataRequest:
    if request is None or not request.is_visible_to(caller):
        raise NotFoundError(f"There is no request {request_id}, or you may not see it.")
    return request
