"""The catalogue: entries that the viewer may see."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from starlette.datastructures import Headers
from starlette.routing import Match
from starlette.types import Scope

from app.console.page import page
from app.console.page_route import PageRoute
from app.console.viewers import ViewerDependency
from app.console.views.catalogue import SearchForm, catalogue_commands
from app.web.negotiation import preferred, qualities
from app.web.state import StateDependency, services_of

#: How many entries a page has.
PER_PAGE = 25

_HTML = "text/html"


class HomeRoute(PageRoute):
    """The route of `/` for browsers, which all name HTML; the API's own `/` is for programs."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether this route answers the request."""
        accept = Headers(scope=scope).get("accept")
        is_browser = _HTML in qualities(accept) and preferred(accept, (_HTML, "application/json")) == _HTML
        return super().matches(scope) if is_browser else (Match.NONE, {})


router = APIRouter(route_class=HomeRoute)


@router.get("/")
async def show_catalogue(
    request: Request,
    viewer: ViewerDependency,
    state: StateDependency,
    form: Annotated[SearchForm, Query()],
) -> Response:
    """One page of entries, newest first, with the form to search them."""
    async with state.database.transaction() as session:
        catalogue = services_of(state, session).catalogue()
        shown = await catalogue.page(viewer.caller, form.search(), PER_PAGE, form.page_token or None)
    answer = page(
        request, "catalogue.html", form=form, shown=shown, commands=catalogue_commands(viewer, form), here="catalogue"
    )
    answer.headers["Vary"] = "Accept"
    return answer
