"""What is done with requests for data: providers approve, decline, counter or deliver; consumers accept or withdraw.

`app.requests.api.verifications` has what consumers do after a delivery.

A request changes only as `app.requests.model.data_requests.TRANSITIONS` says.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

import structlog
from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel

from aegis_sdk import wire
from app.edge.dependencies import CallerDependency, SmallBodyDependency
from app.edge.idempotency import OnceDependency
from app.edge.state import StateDependency, services_of
from app.entries.model.documents import compress
from app.factory import Factory
from app.platform.http.bodies import validated
from app.platform.http.operations import answers, body
from app.requests.api.answers import answer
from app.requests.model.data_requests import Action, DataRequest, GrantLimit
from app.requests.model.handovers import Handover, Link
from app.requests.model.verifications import Verification
from app.tenants.api.required_privacy import required_privacy

router = APIRouter(prefix="/v1/requests/{request_id}", tags=["requests"])

_log = structlog.get_logger(__name__)

#: What a step may answer.
DECIDED = answers(200, wire.DataRequest, "The request as it is now", 400, 404, 409, 413, 415, 422)

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

        async def act(factory: Factory, asked: wire.Decision | wire.Refusal) -> DataRequest:
            service = factory.data_requests(self._state.recent)
            return await service.act(self._caller, self._request_id, action, asked.reason)

        return await self._take(action, model, act)

    async def approve(self) -> Response:
        """Approve, unless the consumer has been granted enough."""

        async def act(factory: Factory, asked: wire.Approval) -> DataRequest:
            service = factory.data_requests(self._state.recent)
            limit = None if asked.limit is None else GrantLimit(asked.limit.requests, asked.limit.days)
            return await service.approve(self._caller, self._request_id, asked.reason, limit)

        return await self._take(Action.APPROVE, wire.Approval, act)

    async def counter(self) -> Response:
        """Offer another configuration."""

        async def act(factory: Factory, asked: wire.CounterOffer) -> DataRequest:
            service = factory.data_requests(self._state.recent)
            return await service.counter(self._caller, self._request_id, asked.configuration, asked.reason)

        return await self._take(Action.COUNTER, wire.CounterOffer, act)

    async def deliver(self) -> Response:
        """Say where the approved table is."""

        async def act(factory: Factory, asked: wire.DeliveryDescriptor) -> DataRequest:
            service = factory.handovers(allow_private=self._state.links_allow_private)
            return await service.deliver(
                self._caller, self._request_id, _handover(asked), asked.entry_digest, asked.lease
            )

        return await self._take(Action.DELIVER, wire.DeliveryDescriptor, act)

    async def relink(self) -> Response:
        """Say where the delivered file is now."""

        async def act(factory: Factory, asked: wire.Link) -> DataRequest:
            service = factory.handovers(allow_private=self._state.links_allow_private)
            return await service.relink(self._caller, self._request_id, Link(asked.url, asked.expires_at))

        return await self._take(Action.RELINK, wire.Link, act)

    async def verify(self, action: Action) -> Response:
        """Say what was found out about the delivered table: it is received, or disputed."""

        async def act(factory: Factory, asked: wire.DeliveryVerdict) -> DataRequest:
            service = factory.verifications()
            return await service.take(self._caller, self._request_id, action, _verification(asked), asked.reason)

        return await self._take(action, wire.DeliveryVerdict, act)

    async def _take(
        self, action: Action, model: type[Asked], act: Callable[[Factory, Asked], Awaitable[DataRequest]]
    ) -> Response:
        async def take(factory: Factory, asked: Asked) -> tuple[str, Response]:
            request = await act(factory, asked)
            _log.info("request changed", data_request=request.id, action=action.value, by=self._caller.subject)
            return request.id, await self._answer(factory, request)

        return await self._once.answer_with(self._document, lambda: validated(model, self._document), take, self._again)

    async def _again(self, request_id: str) -> Response:
        """The request as it is now, when the step has been taken before."""
        async with self._state.database.transaction() as session:
            factory = services_of(self._state, session)
            service = factory.data_requests(self._state.recent)
            return await self._answer(factory, await service.read(self._caller, request_id))

    async def _answer(self, factory: Factory, request: DataRequest) -> Response:
        service = factory.data_requests(self._state.recent)
        return await answer(service, request, self._caller, self._state.limits.request_days)


StepDependency = Annotated[Step, Depends()]


@router.post("/approve", summary="Approve a request", openapi_extra=body(wire.Approval), responses=DECIDED)
async def approve_request(step: StepDependency) -> Response:
    """Agrees to hand over the configuration that the advice has picked. For the entry's provider."""
    return await step.approve()


@router.post("/decline", summary="Decline a request", openapi_extra=body(wire.Refusal), responses=DECIDED)
async def decline_request(step: StepDependency) -> Response:
    """Does not agree, and says why. For the entry's provider."""
    return await step.decide(Action.DECLINE, wire.Refusal)


@router.post("/counter", summary="Counter a request", openapi_extra=body(wire.CounterOffer), responses=DECIDED)
async def counter_request(step: StepDependency) -> Response:
    """Offers another configuration that meets what is required, with what it costs. For the entry's provider."""
    return await step.counter()


@router.post("/accept", summary="Accept a counter-offer", openapi_extra=body(wire.Decision), responses=DECIDED)
async def accept_request(step: StepDependency) -> Response:
    """Takes what the provider has offered instead. For the tenant that has made the request."""
    return await step.decide(Action.ACCEPT, wire.Decision)


@router.post("/deliver", summary="Deliver", openapi_extra=body(wire.DeliveryDescriptor), responses=DECIDED)
async def deliver_request(step: StepDependency) -> Response:
    """Says where the approved table is, and what it is. The service never fetches it. For the entry's provider."""
    return await step.deliver()


@router.post("/relink", summary="Give another link", openapi_extra=body(wire.Link), responses=DECIDED)
async def relink_request(step: StepDependency) -> Response:
    """Says where the delivered file is now, for example since a link has ended. For the entry's provider."""
    return await step.relink()


@router.post("/withdraw", summary="Withdraw a request", openapi_extra=body(wire.Decision), responses=DECIDED)
async def withdraw_request(step: StepDependency) -> Response:
    """Takes a request back before anything is delivered. For the tenant that has made it."""
    return await step.decide(Action.WITHDRAW, wire.Decision)


@router.post("/end", summary="End a request", openapi_extra=body(wire.Refusal), responses=DECIDED)
async def end_request(step: StepDependency) -> Response:
    """Ends an open request, and says why. For operators."""
    return await step.decide(Action.END, wire.Refusal)


def _verification(asked: wire.DeliveryVerdict) -> Verification:
    """A validated verdict in the domain's form."""
    return Verification(
        sha256=asked.sha256,
        size=asked.size,
        records=asked.records,
        measured=required_privacy(asked.privacy),
        cells_compared=asked.cells_compared,
        cells_differing=asked.cells_differing,
        differences=tuple(each.model_dump() for each in asked.differences),
    )


def _handover(asked: wire.DeliveryDescriptor) -> Handover:
    """A validated descriptor in the domain's form."""
    return Handover(
        link=Link(asked.url, asked.expires_at),
        media_type=asked.media_type,
        size=asked.size,
        sha256=asked.sha256,
        records=asked.records,
        configuration=asked.configuration,
        reached=required_privacy(asked.privacy),
        card=None if asked.card is None else compress(asked.card),
    )
