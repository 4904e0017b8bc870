"""Saved searches over HTTP, for administrators of their tenant and for operators."""

import structlog
from fastapi import APIRouter, Response

from aegis_sdk import wire
from app.edge.dependencies import (
    AdministratorDependency,
    CallerDependency,
    FactoryDependency,
    OwnTenant,
    SmallBodyDependency,
)
from app.edge.idempotency import OnceDependency
from app.entries.api.parameters import asked_search
from app.entries.model.saved_searches import SavedSearch
from app.entries.store.searches import Order
from app.factory import Factory
from app.platform.http.bodies import validated
from app.platform.http.operations import JsonResponse, answers, body
from app.platform.members import answer_of

router = APIRouter(prefix="/v1/searches", tags=["searches"])

_log = structlog.get_logger(__name__)


@router.post(
    "",
    summary="Save a search",
    status_code=201,
    openapi_extra=body(wire.SearchRequest),
    responses=answers(201, wire.SavedSearch, "The saved search", 400, 409, 413, 415, 422, headers=("Location",)),
)
async def save_search(caller: AdministratorDependency, document: SmallBodyDependency, once: OnceDependency) -> Response:
    """From now on, the webhooks of the caller's tenant are sent `entry.found`. Operators may name another tenant."""

    async def save(factory: Factory, asked: wire.SearchRequest) -> Response:
        search = asked_search(**asked.model_dump(exclude={"tenant", "sort"}), sort=Order(asked.sort))
        given = asked.model_dump(mode="json", exclude={"tenant"}, exclude_none=True)
        saved = await factory.saved_searches().save(caller, asked.tenant, search, given)
        _log.info("search saved", search=saved.id, by=caller.subject)
        return JsonResponse(_answer(saved), 201, {"Location": f"/v1/searches/{saved.id}"})

    return await once.answer(document, lambda: validated(wire.SearchRequest, document), save)


@router.get(
    "",
    summary="List saved searches",
    responses=answers(200, wire.SavedSearchList, "The saved searches of a tenant, oldest first", 422),
)
async def list_searches(caller: CallerDependency, factory: FactoryDependency, tenant: OwnTenant = None) -> Response:
    """Lists the saved searches of the caller's tenant."""
    searches = await factory.saved_searches().of_tenant(caller, tenant)
    return JsonResponse(wire.SavedSearchList(items=list(map(_answer, searches))))


@router.get("/{search_id}", summary="Read a saved search", responses=answers(200, wire.SavedSearch, "The search", 404))
async def read_search(search_id: str, caller: CallerDependency, factory: FactoryDependency) -> Response:
    """Returns a saved search."""
    return JsonResponse(_answer(await factory.saved_searches().find(caller, search_id)))


@router.delete(
    "/{search_id}",
    summary="Delete a saved search",
    status_code=204,
    responses=answers(204, None, "The search is deleted", 404),
)
async def delete_search(search_id: str, caller: CallerDependency, factory: FactoryDependency) -> Response:
    """Deletes a saved search; events that it caused are still sent."""
    await factory.saved_searches().delete(caller, search_id)
    _log.info("search deleted", search=search_id, by=caller.subject)
    return Response(status_code=204)


def _answer(saved: SavedSearch) -> wire.SavedSearch:
    return answer_of(wire.SavedSearch, saved, search=dict(saved.asked))
