"""Data requests: a consumer asks for a masked table, and both sides act on the request and follow it."""

from datetime import timedelta
from math import prod
from typing import Annotated, Literal
from uuid import UUID

import structlog
from fastapi import APIRouter, Depends, Query, Request, Response

from aegis_sdk import wire
from app.advice.api.answers import question_of
from app.advice.service.advice import QuestionRules
from app.edge.dependencies import CallerDependency, FactoryDependency, SmallBodyDependency, Version, require_room
from app.edge.idempotency import OnceDependency
from app.edge.state import State, StateDependency, services_of
from app.entries.model.documents import compress, is_small
from app.factory import Factory
from app.platform.callers import Caller
from app.platform.http.bodies import validated
from app.platform.http.operations import JsonResponse, PageLimit, PageToken, answers, body, links
from app.platform.members import model_of
from app.requests.api.answers import answer, evidence_json, head_answer
from app.requests.model.data_requests import (
    Action,
    DataRequest,
    Handover,
    NewDataRequest,
    Side,
    Verification,
)
from app.requests.model.data_requests import State as RequestState
from app.requests.service.data_requests import DataRequestService
from app.requests.service.handovers import PackedEvidence
from app.requests.store.data_requests import Wanted
from app.tenants.required_privacy import required_privacy

router = APIRouter(tags=["requests"])

_log = structlog.get_logger(__name__)


@router.post(
    "/v1/entries/{entry_id}/requests",
    summary="Request a masked table",
    status_code=201,
    dependencies=[Depends(require_room)],
    openapi_extra=body(wire.NewDataRequest),
    responses=answers(
        201, wire.DataRequest, "The request", 400, 404, 409, 413, 415, 422, 429, 507, headers=("Location",)
    ),
)
async def request_data(
    entry_id: str,
    caller: CallerDependency,
    document: SmallBodyDependency,
    state: StateDependency,
    once: OnceDependency,
    version: Version = None,
) -> Response:
    """Asks the provider for the masked table that suits a question best, or for a given one. A job finds its place."""

    async def create(factory: Factory, asked: wire.NewDataRequest) -> tuple[str, Response]:
        new = model_of(NewDataRequest, asked, question=question_of(asked))
        rules = QuestionRules(state.question_budget, state.admission.required)
        service = factory.data_requests(state.recent)
        request = await service.create(caller, entry_id, version, new, rules)
        _log.info("data requested", data_request=request.id, entry=request.entry_id, by=caller.subject)
        return request.id, await made(service, request)

    async def again(request_id: str) -> Response:
        async with state.database.transaction() as session:
            service = services_of(state, session).data_requests(state.recent)
            return await made(service, await service.read(caller, request_id))

    async def made(service: DataRequestService, request: DataRequest) -> Response:
        headers = {"Location": f"/v1/requests/{request.id}"}
        return await answer(service, request, caller, state.limits.request_days, 201, headers)

    return await once.answer(document, lambda: validated(wire.NewDataRequest, document), create, again)


@router.get(
    "/v1/requests",
    summary="List requests",
    responses=answers(200, wire.DataRequestPage, "One page, newest first", 422, headers=("Link",)),
)
async def list_requests(
    request: Request,
    caller: CallerDependency,
    state: StateDependency,
    factory: FactoryDependency,
    status: Annotated[RequestState | None, Query(alias="state", description="Only requests in this state")] = None,
    entry: Annotated[UUID | None, Query(description="Only requests for the entry with this id")] = None,
    side: Annotated[
        Literal["consumer", "provider"] | None,
        Query(description="Only requests that the caller's tenant made (`consumer`) or received (`provider`)"),
    ] = None,
    limit: PageLimit = 50,
    page_token: PageToken = None,
) -> Response:
    """Lists the requests that the caller's tenant made or received; operators see all."""
    wanted = Wanted(status, entry, None if side is None else Side(side))
    page = await factory.data_requests(state.recent).page(caller, wanted, limit, page_token)
    items = [head_answer(one, caller, state.limits.request_days) for one in page.items]
    listed = wire.DataRequestPage(items=items, next_page_token=page.next_page_token)
    return JsonResponse(listed, headers={"Link": links(request, page.next_page_token)})


@router.get(
    "/v1/requests/{request_id}",
    summary="Read a request",
    responses=answers(200, wire.DataRequest, "The request with its history", 404),
)
async def read_request(
    request_id: str, caller: CallerDependency, state: StateDependency, factory: FactoryDependency
) -> Response:
    """Returns a request with its history, for its consumer, its provider and operators."""
    service = factory.data_requests(state.recent)
    return await answer(service, await service.read(caller, request_id), caller, state.limits.request_days)


@router.delete(
    "/v1/requests/{request_id}/contact",
    summary="Erase a request's contact",
    responses=answers(200, wire.DataRequest, "The request without its contact", 404),
)
async def erase_contact(
    request_id: str, caller: CallerDependency, state: StateDependency, factory: FactoryDependency
) -> Response:
    """Deletes the contact of a request and nothing else. For its consumer and operators."""
    service = factory.data_requests(state.recent)
    request = await service.erase_contact(caller, request_id)
    _log.info("contact erased", data_request=request.id, by=caller.subject)
    return await answer(service, request, caller, state.limits.request_days)


@router.post(
    "/v1/requests/{request_id}/actions",
    summary="Act on a request",
    openapi_extra=body(wire.RequestAction),
    responses=answers(200, wire.DataRequest, "The request after the action", 400, 404, 409, 413, 415, 422),
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
        case wire.Approve(reason=reason, limit=limit, accept_composition=accepts):
            most = None if limit is None else (limit.requests, limit.days)
            request = await requests.approve(caller, request_id, reason, most, accept_composition=accepts)
        case wire.Counter(configuration=offered, reason=reason, accept_composition=accepts):
            request = await requests.counter(caller, request_id, offered, reason, accept_composition=accepts)
        case wire.Accept(reason=reason):
            request = await requests.accept(caller, request_id, reason)
        case wire.Deliver():
            card = None if asked.card is None else compress(asked.card)
            handover = model_of(Handover, asked, reached=required_privacy(asked.privacy), card=card)
            request = await handovers.deliver(caller, request_id, handover, asked.entry_digest, asked.lease)
        case wire.Relink():
            request = await handovers.relink(caller, request_id, asked.url, asked.expires_at)
        case wire.Receive() | wire.Dispute():
            differences = tuple(difference.model_dump() for difference in asked.differences)
            measured = required_privacy(asked.privacy)
            verdict = model_of(Verification, asked, measured=measured, differences=differences)
            request = await factory.verifications().take(caller, request_id, action, verdict, asked.reason)
        case _:
            request = await requests.act(caller, request_id, action, asked.reason)
    _log.info("request changed", data_request=request.id, action=action.value, by=caller.subject)
    return request


@router.post(
    "/v1/requests/{request_id}/lease",
    summary="Take or renew a request's lease",
    openapi_extra=body(wire.LeaseRequest),
    responses=answers(200, wire.Lease, "The lease", 400, 404, 409, 413, 415, 422),
)
async def take_lease(
    request_id: str, caller: CallerDependency, document: SmallBodyDependency, once: OnceDependency
) -> Response:
    """Reserves the fulfilment of an approved request for one program and some time. For the entry's provider."""

    async def take(factory: Factory, asked: wire.LeaseRequest) -> Response:
        length = timedelta(seconds=asked.seconds)
        lease = await factory.leases().take(caller, request_id, asked.lease, length)
        _log.info("request leased", data_request=request_id, seconds=asked.seconds, by=caller.subject)
        return JsonResponse(wire.Lease(lease=lease.id, expires_at=lease.expires_at))

    return await once.answer(document, lambda: validated(wire.LeaseRequest, document), take)


@router.delete(
    "/v1/requests/{request_id}/lease/{lease_id}",
    summary="Release a request's lease",
    status_code=204,
    responses=answers(204, None, "Others can take the lease now; also if it had already ended", 404, 422),
)
async def release_lease(
    request_id: str, lease_id: UUID, caller: CallerDependency, factory: FactoryDependency
) -> Response:
    """Lets other programs fulfil the request."""
    await factory.leases().release(caller, request_id, str(lease_id))
    return Response(status_code=204)


#: The most cells and bytes of JSON that are assembled in this process.
_SMALL = 50_000


@router.get(
    "/v1/requests/{request_id}/evidence",
    summary="Read the counts of what was delivered",
    responses=answers(200, wire.Evidence, "The counts of the delivered configuration", 404, 409),
)
async def read_evidence(request_id: str, caller: CallerDependency, state: StateDependency) -> Response:
    """Returns the counts that a delivered table must have: the published ones of its configuration only."""
    async with state.database.transaction() as session:
        packed = await services_of(state, session).verifications().evidence(caller, request_id)
    _log.info("evidence read", data_request=packed.request.id, by=caller.subject)
    return JsonResponse(await _made(state, caller, packed))


async def _made(state: State, caller: Caller, packed: PackedEvidence) -> bytes:
    """The evidence as JSON. A child process makes that of large entries, outside any transaction."""
    cells = sum(prod(table.counts.shape) for table in packed.tables)
    if cells <= _SMALL and is_small(packed.schema, _SMALL) and is_small(packed.configurations, _SMALL):
        return evidence_json(packed)
    return await state.making.run(evidence_json, packed, on_behalf_of=caller.tenant)
