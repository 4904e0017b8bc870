"""Pages of entries, and the sign-off of versions."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.edge.state import StateDependency, services_of
from app.entries.pages.reading import read_entry
from app.entries.pages.views.entry import entry_commands, entry_view, is_seen
from app.entries.pages.views.entry_words import CRITERIA, REASONS
from app.pages.forms import FormDependency
from app.pages.page import page, see
from app.pages.page_route import PageRoute
from app.pages.viewers import ViewerDependency

router = APIRouter(prefix="/entries/{entry_id}", route_class=PageRoute)

Version = Annotated[int | None, Query(ge=1)]
PageNumber = Annotated[int, Query(ge=1)]


@router.get("")
async def show_entry(
    request: Request,
    entry_id: str,
    viewer: ViewerDependency,
    state: StateDependency,
    version: Version = None,
    attributes: PageNumber = 1,
    configurations: PageNumber = 1,
) -> Response:
    """The page of an entry."""
    read = await read_entry(state, viewer.caller, entry_id, version)
    view = entry_view(viewer, read.head, version, read.index, read.versions, read.verdict, (attributes, configurations))
    commands = entry_commands(viewer, view)
    return page(
        request, "entry.html", view=view, commands=commands, criteria=CRITERIA, reasons=REASONS, here="catalogue"
    )


@router.post("/sign-off")
async def sign_off(entry_id: str, viewer: ViewerDependency, state: StateDependency, form: FormDependency) -> Response:
    """Show others the version that the viewer has read."""
    async with state.database.transaction() as session:
        catalogue = services_of(state, session).catalogue()
        head = await catalogue.sign_off(viewer.caller, entry_id, form.version, is_seen(form.text("state")))
    return see(f"/entries/{head.id}?version={head.version}")
