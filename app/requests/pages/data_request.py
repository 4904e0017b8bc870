"""The page of a data request: what was asked, what has become of it, and what can be done with it."""

from dataclasses import replace

import orjson
from fastapi import APIRouter, Request, Response

from app.edge.state import State, StateDependency, services_of
from app.pages.forms import Form
from app.pages.once import draw_key
from app.pages.page import HEADERS, page
from app.pages.page_route import PageRoute
from app.pages.refusals import Refusal
from app.pages.viewers import Viewer, ViewerDependency
from app.requests.api.answers import request_answer
from app.requests.pages.views import request_words
from app.requests.pages.views.data_request import RequestView, counted_places
from app.requests.pages.views.data_requests import tone_of
from app.requests.pages.views.request_commands import (
    check_lines,
    deliver_line,
    fulfil_line,
    receipt_name,
    receive_line,
    request_commands,
)

router = APIRouter(route_class=PageRoute)

#: How many configurations are proposed for an offer, the best ones.
PROPOSED = 50


@router.get("/requests/{request_id}")
async def show_request(request_id: str, request: Request, viewer: ViewerDependency, state: StateDependency) -> Response:
    """A request, for both of its sides and operators."""
    return _page(request, viewer, await _view(state, viewer, request_id), "request.html")


@router.get("/requests/{request_id}/now")
async def show_change(
    request_id: str, request: Request, viewer: ViewerDependency, state: StateDependency, changed: str = ""
) -> Response:
    """The content of the page if the request has changed since, for the page to replace its own."""
    async with state.database.transaction() as session:
        service = services_of(state, session).data_requests(state.recent)
        known = await service.read(viewer.caller, request_id)
    if known.changed_at.isoformat() == changed:
        return Response(status_code=204)
    return _page(request, viewer, await _view(state, viewer, request_id), "request_content.html")


@router.get("/requests/{request_id}/receipt")
async def download_receipt(request_id: str, viewer: ViewerDependency, state: StateDependency) -> Response:
    """The signed receipt of a request, as a file."""
    async with state.database.transaction() as session:
        claims, jws = await services_of(state, session).receipts(state.signer).make(viewer.caller, request_id)
    name = receipt_name(claims["request"])
    headers = {**HEADERS, "Content-Disposition": f'attachment; filename="{name}"'}
    return Response(orjson.dumps({"claims": claims, "jws": jws}), 200, headers, media_type="application/json")


async def refused_page(
    request: Request, viewer: Viewer, state: State, request_id: str, action: str, typed: Form, refusal: Refusal
) -> Response:
    """The page of a request, with why one of its forms was refused, and what it said."""
    view = replace(await _view(state, viewer, request_id), refusal=refusal, acted=action, typed=typed)
    return refusal.on(_page(request, viewer, view, "request.html", refusal.status))


async def _view(state: State, viewer: Viewer, request_id: str) -> RequestView:
    async with state.database.transaction() as session:
        service = services_of(state, session).data_requests(state.recent)
        known = await service.read(viewer.caller, request_id)
        shown = await request_answer(service, known, viewer.caller, state.limits.request_days)
        alternatives = await service.alternatives(viewer.caller, known, PROPOSED)
    return RequestView(
        request=shown,
        sides=known.sides_of(viewer.caller),
        alternatives=tuple(alternatives),
        once=draw_key(),
        is_signed=state.signer is not None,
    )


def _page(request: Request, viewer: Viewer, view: RequestView, template: str, status: int = 200) -> Response:
    return page(
        request,
        template,
        status,
        view=view,
        words=request_words,
        tone_of=tone_of,
        counted_places=counted_places,
        commands=request_commands(viewer, view.request, may_erase=view.may_erase, is_signed=view.is_signed),
        receive_line=receive_line(view.request),
        fulfil_line=fulfil_line(view.request),
        deliver_line=deliver_line(viewer, view.request),
        check_lines=check_lines(viewer, view.request),
        here="requests",
    )
