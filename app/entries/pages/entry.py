"""Pages of an entry: the entry, its parts and counts, sign-off, visibility and deletion.

Each version is cut into parts once (`entry_index`), and cached.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response
from pydantic_core import to_jsonable_python

from aegis_sdk import wire
from app.edge.state import State, StateDependency, services_of
from app.entries.api.mapping import visibility_answer, visibility_of
from app.entries.api.parameters import version_key
from app.entries.api.previews import preview_for
from app.entries.api.routes import SMALL
from app.entries.model.documents import is_small, tables_about
from app.entries.model.entries import Audience, CountTable, Head
from app.entries.pages.entry_index import ABOUT, EntryIndex, WholeAttribute, entry_index
from app.entries.pages.entry_views import (
    CRITERIA,
    OF_PEOPLE,
    REASONS,
    attribute_view,
    configuration_view,
    counted_label,
    counts_view,
    entry_commands,
    entry_view,
    is_seen,
    part_commands,
    state_of,
    whole_attribute,
)
from app.entries.service.catalogue import CatalogueService
from app.pages.commands import Commands, aegis, curl
from app.pages.forms import FormDependency, validated_as
from app.pages.page import page, see
from app.pages.page_route import PageRoute
from app.pages.slices import read_part
from app.pages.viewers import Viewer, ViewerDependency
from app.platform.callers import Caller
from app.platform.errors import Fault, InvalidDocumentError, NotFoundError

#: The longest description that this process renders itself, within a few milliseconds.
SHORT = 2_000

router = APIRouter(prefix="/entries/{entry_id}", route_class=PageRoute)

Version = Annotated[int | None, Query(ge=1)]
PageNumber = Annotated[int, Query(ge=1)]

Name = Annotated[str, Query(max_length=255)]
Place = Annotated[int, Query(ge=0)]


async def read_index(state: State, caller: Caller, entry_id: str, version: int | None) -> tuple[Head, EntryIndex]:
    """The head and index of a version, by default the latest that the caller may see (NotFoundError: there is none)."""
    async with state.database.transaction() as session:
        catalogue = services_of(state, session).catalogue()
        head = await catalogue.head(caller, entry_id, version)
        known = await known_or_stored(state, catalogue, caller, head)
    return head, await index_of(state, caller, head, known)


async def known_or_stored(
    state: State, catalogue: CatalogueService, caller: Caller, head: Head
) -> EntryIndex | tuple[bytes, bytes]:
    """The index of a version if cached, else its stored parts."""
    known = state.read.find(version_key(head, head.shows_counts_to(caller)))
    return await catalogue.schema(head) if known is None else known


async def index_of(state: State, caller: Caller, head: Head, known: EntryIndex | tuple[bytes, bytes]) -> EntryIndex:
    """The index of a version, as the caller may read it. Call this outside of any transaction."""
    if isinstance(known, EntryIndex):
        return known
    in_full = head.shows_counts_to(caller)
    if all(is_small(part, SMALL) for part in known) and len(head.description) <= SHORT:
        index = entry_index(*known, in_full)
    else:
        index = await state.making.run(entry_index, *known, in_full, on_behalf_of=caller.tenant)
    state.read.keep(version_key(head, in_full), index)
    return index


@router.get("")
async def show_entry(
    request: Request,
    entry_id: str,
    viewer: ViewerDependency,
    state: StateDependency,
    version: Version = None,
    attributes: PageNumber = 1,
    configurations: PageNumber = 1,
    preview: Name = "",
    advice: Name = "",
) -> Response:
    """The page of an entry, with a preview of this configuration if it is given.

    A request for it repeats the question of an advice, if that is given.
    """
    async with state.database.transaction() as session:
        catalogue = services_of(state, session).catalogue()
        head = await catalogue.head(viewer.caller, entry_id, version)
        verdict = await catalogue.verdict(viewer.caller, head)
        versions = await catalogue.versions(viewer.caller, head)
        known = await known_or_stored(state, catalogue, viewer.caller, head)
    index = await index_of(state, viewer.caller, head, known)
    view = entry_view(viewer, head, version, index, versions, verdict, (attributes, configurations))
    if preview:
        view = replace(view, preview=await preview_for(state, viewer.caller, entry_id, preview, head.version))
    commands = entry_commands(viewer, view)
    about = {"advice": advice} if advice else {"entry": head.id, "version": head.version}
    return page(
        request,
        "entry.html",
        view=view,
        commands=commands,
        criteria=CRITERIA if head.unit is None else CRITERIA | OF_PEOPLE,
        reasons=REASONS,
        request_link=f"/requests/new?{urlencode(about | {'configuration': preview})}",
        here="catalogue",
    )


@router.post("/sign-off")
async def sign_off(entry_id: str, viewer: ViewerDependency, state: StateDependency, form: FormDependency) -> Response:
    """Show others the version that the viewer has read."""
    async with state.database.transaction() as session:
        catalogue = services_of(state, session).catalogue()
        head = await catalogue.sign_off(viewer.caller, entry_id, form.version, is_seen(form.text("state")))
    return see(f"/entries/{head.id}?version={head.version}")


@router.get("/visibility")
async def show_visibility(
    request: Request, entry_id: str, viewer: ViewerDependency, state: StateDependency
) -> Response:
    """The form for the visibility of an entry."""
    head = await _own_head(state, viewer, entry_id)
    visibility = head.visibility
    return _visibility_page(request, viewer, head, visibility.audience.value, "\n".join(visibility.tenants))


@router.post("/visibility")
async def set_visibility(
    request: Request, entry_id: str, viewer: ViewerDependency, state: StateDependency, form: FormDependency
) -> Response:
    """Change the visibility of an entry."""
    audience, tenants = form.text("audience"), form.text("tenants")
    asked: object = audience
    if audience == Audience.TENANTS:
        asked = {"tenants": [line.strip() for line in tenants.splitlines() if line.strip()]}
    try:
        wanted = visibility_of(validated_as(wire.VisibilityPatch, {"visibility": asked}).visibility)
    except InvalidDocumentError as error:
        head = await _own_head(state, viewer, entry_id)
        return _visibility_page(request, viewer, head, audience, tenants, error.faults)
    async with state.database.transaction() as session:
        catalogue = services_of(state, session).catalogue()
        head = await catalogue.set_visibility(viewer.caller, entry_id, wanted, is_seen(form.text("state")))
    return see(f"/entries/{head.id}")


@router.get("/delete")
async def confirm_deletion(
    request: Request, entry_id: str, viewer: ViewerDependency, state: StateDependency
) -> Response:
    """Ask to confirm the deletion of the entry."""
    head = await _own_head(state, viewer, entry_id)
    commands = Commands(
        (aegis("entries", "delete", head.id),), (curl(viewer, f"/v1/entries/{head.id}", method="DELETE"),)
    )
    return page(request, "entry_delete.html", head=head, state=state_of(head), commands=commands, here="catalogue")


@router.post("/delete")
async def delete_entry(
    entry_id: str, viewer: ViewerDependency, state: StateDependency, form: FormDependency
) -> Response:
    """Delete the entry with its versions and advice."""
    async with state.database.transaction() as session:
        await services_of(state, session).catalogue().delete(viewer.caller, entry_id, is_seen(form.text("state")))
    return see("/")


async def _own_head(state: State, viewer: Viewer, entry_id: str) -> Head:
    async with state.database.transaction() as session:
        return await services_of(state, session).catalogue().own_head(viewer.caller, entry_id)


def _visibility_page(
    request: Request, viewer: Viewer, head: Head, audience: str, tenants: str, faults: Sequence[Fault] = ()
) -> Response:
    shown = visibility_answer(head.visibility)
    body = {"visibility": to_jsonable_python(shown)}
    call = curl(viewer, f"/v1/entries/{head.id}", method="PATCH", body=body)
    words = [shown] if isinstance(shown, str) else [word for name in shown.tenants for word in ("--tenant", name)]
    commands = Commands((aegis("entries", "visibility", head.id, *words),), (call,))
    return page(
        request,
        "entry_visibility.html",
        422 if faults else 200,
        head=head,
        state=state_of(head),
        audience=audience,
        tenants=tenants,
        faults=faults,
        commands=commands,
        here="catalogue",
    )


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
    head, index = await read_index(state, viewer.caller, entry_id, version)
    view = attribute_view(head, version, whole_attribute(index, name), values)
    commands = part_commands(viewer, head, version)
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
    head, index = await read_index(state, viewer.caller, entry_id, version)
    view = configuration_view(head, version, index, place, maskings)
    commands = part_commands(viewer, head, version)
    return page(request, "entry_configuration.html", view=view, commands=commands, here="catalogue")


@router.get("/counts")
async def show_counts(
    request: Request,
    entry_id: str,
    viewer: ViewerDependency,
    state: StateDependency,
    attribute: Name = "",
    label: Name = "",
    masking: Annotated[str | None, Query(max_length=255)] = None,
    version: Version = None,
    values: PageNumber = 1,
) -> Response:
    """The counts of a label and of an attribute, for viewers who may read them."""
    async with state.database.transaction() as session:
        catalogue = services_of(state, session).catalogue()
        head = await catalogue.countable_head(viewer.caller, entry_id, version)
        known = await known_or_stored(state, catalogue, viewer.caller, head)
    index = await index_of(state, viewer.caller, head, known)
    whole = whole_attribute(index, attribute) if attribute else None
    asked = counted_label(head, label, whole)
    if asked == head.label:
        classes: Sequence[str] = read_part(index.about, ABOUT).classes
        async with state.database.transaction() as session:
            tables = await services_of(state, session).catalogue().counts(head, 0 if whole is None else whole.row.place)
    else:
        with_label = whole_attribute(index, asked)
        classes = with_label.domain
        tables = await _counts_with(state, viewer.caller, head, with_label, whole)
    if not tables:
        raise NotFoundError(f"Entry {entry_id} has just been deleted.")
    view = counts_view(head, version, asked, classes, whole, tables, masking, values)
    commands = part_commands(viewer, head, version, "/summaries")
    return page(request, "entry_counts.html", view=view, commands=commands, here="catalogue")


async def _counts_with(
    state: State, caller: Caller, head: Head, label: WholeAttribute, whole: WholeAttribute | None
) -> tuple[CountTable, ...]:
    """The counts of another label than the default one, and of an attribute with it."""
    place = label.row.place if whole is None else whole.row.place
    async with state.database.transaction() as session:
        catalogue = services_of(state, session).catalogue()
        schema, tables = await catalogue.counts_with(head, sorted({label.row.place, place}))
    return await state.making.run(tables_about, schema, tables, label.row.name, place, on_behalf_of=caller.tenant)
