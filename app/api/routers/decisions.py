"""What is done with requests for data: providers approve, decline or counter; consumers accept or withdraw.

A request changes only as `app.domain.data_requests.TRANSITIONS` says.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

import structlog
from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel

from aegis_sdk import wire
from app.api.bodies import validated
from app.api.data_request_json import answer
from app.api.dependencies import CallerDependency, SmallBodyDependency, StateDependency
from app.api.describe import answers, body
from app.api.idempotency import OnceDependency
from app.domain.data_requests import Action, DataRequest
from app.factory import Factory
from app.services.data_requests import DataRequestService

router = APIRouter(prefix="/v1/requests/{request_id}", tags=["requests"])

_log = structlog.get_logger(__name__)

_DECIDED = answers(200, wire.DataRequest, "The request as it is now", 400, 404, 409, 413, 415, 422)

Asked = TypeVar("Asked", bound=BaseModel)


class Step:
    """A step that a caller wants to take with a request."""

    def __init__(
        self,
        request_id: str,
        caller: CallerDependency,
        document: SmallBodyDependency,
        state: StateDependency,
        once: OnceDependency,
    ) -> None:
        self._request_id, self._caller, self._document = request_id, caller, document
        self._state, self._once = state, once

    async def decide(self, action: Action, model: type[wire.Decision] | type[wire.Refusal]) -> Response:
        """Take a step that needs no more than a reason."""

        async def act(service: DataRequestService, asked: wire.Decision | wire.Refusal) -> DataRequest:
            return await service.act(self._caller, self._request_id, action, asked.reason)

        return await self._take(action, model, act)

    async def counter(self) -> Response:
        """Offer another configuration."""

        async def act(service: DataRequestService, asked: wire.CounterOffer) -> DataRequest:
            return await service.counter(self._caller, self._request_id, asked.configuration, asked.reason)

        return await self._take(Action.COUNTER, wire.CounterOffer, act)

    async def _take(
        self, action: Action, model: type[Asked], act: Callable[[DataRequestService, Asked], Awaitable[DataRequest]]
    ) -> Response:
        async def take(factory: Factory, asked: Asked) -> Response:
            service = factory.data_requests(self._state.recent)
            request = await act(service, asked)
            _log.info("request changed", data_request=request.id, action=action.value, by=self._caller.subject)
            return await answer(service, request, self._caller, self._state.limits.request_days)

        return await self._once.answer(self._document, lambda: validated(model, self._document), take)


StepDependency = Annotated[Step, Depends()]


@router.post("/approve", summary="Approve a request", openapi_extra=body(wire.Decision), responses=_DECIDED)
async def approve_request(step: StepDependency) -> Response:
    """Agrees to hand over the configuration that the advice has picked. For the entry's provider."""
    return await step.decide(Action.APPROVE, wire.Decision)


@router.post("/decline", summary="Decline a request", openapi_extra=body(wire.Refusal), responses=_DECIDED)
async def decline_request(step: StepDependency) -> Response:
    """Does not agree, and says why. For the entry's provider."""
    return await step.decide(Action.DECLINE, wire.Refusal)


@router.post("/counter", summary="Counter a request", openapi_extra=body(wire.CounterOffer), responses=_DECIDED)
async def counter_request(step: StepDependency) -> Response:
    """Offers another configuration that meets what is required, with what it costs. For the entry's provider."""
    return await step.counter()


@router.post("/accept", summary="Accept a counter-offer", openapi_extra=body(wire.Decision), responses=_DECIDED)
async def accept_request(step: StepDependency) -> Response:
    """Takes what the provider has offered instead. For the tenant that has made the request."""
    return await step.decide(Action.ACCEPT, wire.Decision)


@router.post("/withdraw", summary="Withdraw a request", openapi_extra=body(wire.Decision), responses=_DECIDED)
async def withdraw_request(step: StepDependency) -> Response:
    """Takes a request back before anything is delivered. For the tenant that has made it."""
    return await step.decide(Action.WITHDRAW, wire.Decision)


@router.post("/end", summary="End a request", openapi_extra=body(wire.Refusal), responses=_DECIDED)
async def end_request(step: StepDependency) -> Response:
    """Ends an open request, and says why. For operators."""
    return await step.decide(Action.END, wire.Refusal)
