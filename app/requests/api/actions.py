"""What providers, consumers and operators do with requests, as `app.requests.model.data_requests.TRANSITIONS` says."""

import structlog
from fastapi import APIRouter, Response

from aegis_sdk import wire
from app.edge.dependencies import CallerDependency, SmallBodyDependency
from app.edge.idempotency import OnceDependency
from app.edge.state import State, StateDependency, services_of
from app.entries.model.documents import compress
from app.factory import Factory
from app.platform.callers import Caller
from app.platform.http.bodies import validated
from app.platform.http.operations import answers, body
from app.requests.api.answers import answer
from app.requests.model.data_requests import Action, DataRequest, GrantLimit
from app.requests.model.handovers import Handover, Link
from app.requests.model.verifications import Verification
from app.tenants.api.required_privacy import required_privacy

router = APIRouter(prefix="/v1/requests/{request_id}", tags=["requests"])

_log = structlog.get_logger(__name__)


@router.post(
    "/actions",
    summary="Act on a request",
    openapi_extra=body(wire.RequestAction),
    responses=answers(200, wire.DataRequest, "The request as it is now", 400, 404, 409, 413, 415, 422),
)
async def act_on_request(
    request_id: str,
    caller: CallerDependency,
    document: SmallBodyDependency,
    state: StateDependency,
    once: OnceDependency,
) -> Response:
    """Approves, declines, counters, accepts, delivers, relinks, receives, disputes, withdraws or ends a request."""

    async def take(factory: Factory, asked: wire.RequestAction) -> tuple[str, Response]:
        request = await act(factory, state, caller, request_id, asked.root)
        return request.id, await answered(factory, request)

    async def again(request_id: str) -> Response:
        async with state.database.transaction() as session:
            factory = services_of(state, session)
            return await answered(factory, await factory.data_requests(state.recent).read(caller, request_id))

    async def answered(factory: Factory, request: DataRequest) -> Response:
        return await answer(factory.data_requests(state.recent), request, caller, state.limits.request_days)

    return await once.answer(document, lambda: validated(wire.RequestAction, document), take, again)


async def act(factory: Factory, state: State, caller: Caller, request_id: str, asked: wire.Step) -> DataRequest:
    """Take a step with a request.

    Raises:
        NotFoundError: there is no such request, or the caller may not see it.
        RefusalError: the caller may not do this, or not now, or not like this.
    """
    action = Action(asked.action)
    requests = factory.data_requests(state.recent)
    handovers = factory.handovers(allow_private=state.links_allow_private)
    match asked:
        case wire.Approve(reason=reason, limit=limit):
            granted = None if limit is None else GrantLimit(limit.requests, limit.days)
            request = await requests.approve(caller, request_id, reason, granted)
        case wire.Counter():
            request = await requests.counter(caller, request_id, asked.configuration, asked.reason)
        case wire.Deliver():
            request = await handovers.deliver(caller, request_id, _handover(asked), asked.entry_digest, asked.lease)
        case wire.Relink():
            request = await handovers.relink(caller, request_id, Link(asked.url, asked.expires_at))
        case wire.Receive() | wire.Dispute():
            verdict = _verification(asked)
            request = await factory.verifications().take(caller, request_id, action, verdict, asked.reason)
        case _:
            request = await requests.act(caller, request_id, action, asked.reason)
    _log.info("request changed", data_request=request.id, action=action.value, by=caller.subject)
    return request


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
