"""Requests for data: the list of those that the viewer has made or was made."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.edge.state import State, StateDependency, services_of
from app.pages.page import page
from app.pages.page_route import PageRoute
from app.pages.viewers import Viewer, ViewerDependency
from app.requests.api.answers import head_answer
from app.requests.model.data_requests import DataRequestPage
from app.requests.pages.views.data_requests import RequestFilter, RequestList, list_commands, tone_of, waits_for_reader

router = APIRouter(route_class=PageRoute)

#: How many requests a page has.
PER_PAGE = 25


@router.get("/requests")
async def show_requests(
    request: Request, viewer: ViewerDependency, state: StateDependency, form: Annotated[RequestFilter, Query()]
) -> Response:
    """One page of requests, newest first, with the form to narrow the list."""
    listed = await _listed(state, viewer, form)
    items = tuple(head_answer(one, viewer.caller, state.limits.request_days) for one in listed.items)
    view = RequestList(form, items, listed.next_page_token)
    return page(
        request,
        "requests.html",
        view=view,
        tone_of=tone_of,
        waits=waits_for_reader,
        commands=list_commands(viewer, form),
        here="requests",
    )


async def _listed(state: State, viewer: Viewer, form: RequestFilter) -> DataRequestPage:
    wanted = form.wanted()
    if wanted is None:
        return DataRequestPage((), None)
    async with state.database.transaction() as session:
        service = services_of(state, session).data_requests(state.recent)
        return await service.page(viewer.caller, wanted, PER_PAGE, form.page_token or None)
