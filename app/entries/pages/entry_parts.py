"""Pages of parts of entries that are too long for the entry's page, and of counts."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.edge.state import StateDependency, services_of
from app.entries.pages.entries import PageNumber, Version
from app.entries.pages.reading import index_of, known_or_stored, read_entry
from app.entries.pages.views.entry_counts import counts_view
from app.entries.pages.views.entry_lists import attribute_view, configuration_view, part_commands, whole_attribute
from app.entries.pages.views.entry_parts import ABOUT
from app.pages.page import page
from app.pages.page_route import PageRoute
from app.pages.slices import read_part
from app.pages.viewers import ViewerDependency
from app.platform.errors import NotFoundError

router = APIRouter(prefix="/entries/{entry_id}", route_class=PageRoute)

Name = Annotated[str, Query(max_length=255)]
Place = Annotated[int, Query(ge=0)]


@router.get("/attribute")
async def show_attribute(
    request: Request,
    entry_id: str,
    viewer: ViewerDependency,
    state: StateDependency,
    name: Name,
    version: Version = None,
    values: PageNumber = 1,
) -> Response:
    """The whole domain of an attribute, with its masked values."""
    read = await read_entry(state, viewer.caller, entry_id, version)
    view = attribute_view(read.head, version, whole_attribute(read.index, name), values)
    commands = part_commands(viewer, read.head, version)
    return page(request, "entry_attribute.html", view=view, commands=commands, here="catalogue")


@router.get("/configuration")
async def show_configuration(
    request: Request,
    entry_id: str,
    viewer: ViewerDependency,
    state: StateDependency,
    place: Place,
    version: Version = None,
    maskings: PageNumber = 1,
) -> Response:
    """All maskings of a configuration."""
    read = await read_entry(state, viewer.caller, entry_id, version)
    view = configuration_view(read.head, version, read.index, place, maskings)
    commands = part_commands(viewer, read.head, version)
    return page(request, "entry_configuration.html", view=view, commands=commands, here="catalogue")


@router.get("/counts")
async def show_counts(
    request: Request,
    entry_id: str,
    viewer: ViewerDependency,
    state: StateDependency,
    attribute: Name = "",
    masking: Annotated[str | None, Query(max_length=255)] = None,
    version: Version = None,
    values: PageNumber = 1,
) -> Response:
    """The counts of the label and of an attribute, for viewers who may read them."""
    async with state.database.transaction() as session:
        catalogue = services_of(state, session).catalogue()
        head = await catalogue.countable_head(viewer.caller, entry_id, version)
        known = await known_or_stored(state, catalogue, viewer.caller, head)
    index = await index_of(state, viewer.caller, head, known)
    whole = whole_attribute(index, attribute) if attribute else None
    async with state.database.transaction() as session:
        tables = await services_of(state, session).catalogue().counts(head, 0 if whole is None else whole.row.place)
    if not tables:
        raise NotFoundError(f"Entry {entry_id} has just been deleted.")
    classes = read_part(index.about, ABOUT).classes
    view = counts_view(head, version, classes, whole, tables, masking, values)
    commands = part_commands(viewer, head, version, "/summaries")
    return page(request, "entry_counts.html", view=view, commands=commands, here="catalogue")
