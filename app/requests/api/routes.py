"""Requests for data: a consumer asks for a masked table, and either side reads what has become of it."""

from typing import Annotated, Literal
from uuid import UUID

import structlog
from fastapi import APIRouter, Depends, Query, Request, Response

from aegis_sdk import wire
from app.advice.api.asked import question_of
from app.advice.service.advice import QuestionRules
from app.edge.dependencies import CallerDependency, FactoryDependency, SmallBodyDependency, Version, require_room
from app.edge.idempotency import OnceDependency
from app.edge.state import StateDependency, services_of
from app.factory import Factory
from app.platform.http.bodies import validated
from app.platform.http.json_response import JsonResponse
from app.platform.http.operations import answers, body
from app.platform.http.paging import PageLimit, PageToken, links
from app.requests.api.answers import answer, head_answer
from app.requests.model.data_requests import DataRequest, NewDataRequest, Side, State
from app.requests.service.data_requests import DataRequestService
from app.requests.store.data_requests import Wanted

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
    """Asks the provider for the masked table that suits a question best. A job finds out which that is."""

    async def create(factory: Factory, asked: wire.NewDataRequest) -> tuple[str, Response]:
        new = NewDataRequest(question_of(asked), asked.purpose, asked.contact, asked.terms)
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
    status: Annotated[State | None, Query(alias="state", description="Only those in this state")] = None,
    entry: Annotated[UUID | None, Query(description="Only those for the entry with this id")] = None,
    side: Annotated[
        Literal["consumer", "provider"] | None,
        Query(description="Only those that the caller's tenant has made (`consumer`) or was made (`provider`)"),
    ] = None,
    limit: PageLimit = 50,
    page_token: PageToken = None,
) -> Response:
    """Lists the requests that the caller's tenant has made or was made; operators see all."""
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
    """Returns a request with its history, for the tenant that has made it, its provider, and operators."""
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
    """Forgets whom to ask about a request; all else stays. For the tenant that has made it, and operators."""
    service = factory.data_requests(state.recent)
    request = await service.erase_contact(caller, request_id)
    _log.info("contact erased", data_request=request.id, by=caller.subject)
    return await answer(service, request, caller, state.limits.request_days)
