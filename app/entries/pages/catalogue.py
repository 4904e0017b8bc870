"""The page of the catalogue: entries that the viewer may see."""

from fastapi import APIRouter, Request, Response
from starlette.datastructures import Headers
from starlette.routing import Match
from starlette.types import Scope

from aegis_sdk import wire
from app.edge.state import State, StateDependency, services_of
from app.entries.api.mapping import page_answer
from app.entries.pages.views.catalogue import SearchForm, catalogue_commands
from app.entries.store.searches import Search
from app.pages.browsers import is_browser
from app.pages.page import page
from app.pages.page_route import PageRoute
from app.pages.viewers import Viewer, ViewerDependency
from app.platform.errors import InvalidDocumentError

#: The number of entries on a page.
PER_PAGE = 25


class HomeRoute(PageRoute):
    """The route of `/` for browsers, which accept HTML; the API's own `/` is for programs."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether this route serves the request."""
        return super().matches(scope) if is_browser(Headers(scope=scope).get("accept")) else (Match.NONE, {})


router = APIRouter(route_class=HomeRoute)


@router.get("/")
async def show_catalogue(request: Request, viewer: ViewerDependency, state: StateDependency) -> Response:
    """One page of entries, newest first, with the form to search them."""
    form = SearchForm.of(request.query_params)
    shown: wire.HeadPage | None = None
    if form.search is not None:
        form, shown = await _found(state, viewer, form, form.search)
    answer = page(
        request,
        "catalogue.html",
        422 if form.faults else 200,
        form=form,
        shown=shown,
        commands=catalogue_commands(viewer, form),
        here="catalogue",
    )
    answer.headers["Vary"] = "Accept"
    return answer


async def _found(
    state: State, viewer: Viewer, form: SearchForm, search: Search
) -> tuple[SearchForm, wire.HeadPage | None]:
    """The matches of a search; if its page token is invalid, the form has a fault."""
    try:
        async with state.database.transaction() as session:
            catalogue = services_of(state, session).catalogue()
            found = await catalogue.page(viewer.caller, search, PER_PAGE, form.page_token or None)
    except InvalidDocumentError as error:
        return form.with_fault("page_token", error.faults[0].detail if error.faults else error.detail), None
    return form, page_answer(found)
