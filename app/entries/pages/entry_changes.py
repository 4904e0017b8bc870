"""Changes by owners: visibility and deletion of entries."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from fastapi import APIRouter, Request, Response
from pydantic_core import to_jsonable_python

from aegis_sdk import wire
from app.edge.state import State, StateDependency, services_of
from app.entries.api.mapping import visibility_answer, visibility_of
from app.entries.model.entries import Audience, Head, Visibility
from app.entries.pages.views.entry import is_seen, state_of
from app.pages.commands import Commands, aegis, curl
from app.pages.fields import validated_as
from app.pages.forms import FormDependency
from app.pages.page import page, see
from app.pages.page_route import PageRoute
from app.pages.viewers import Viewer, ViewerDependency
from app.platform.errors import Fault, InvalidDocumentError


@dataclass(frozen=True, slots=True)
class VisibilityForm:
    """The visibility form.

    Attributes:
        audience: `private`, `all` or `tenants`.
        tenants: the names of the tenants, one on each line.
    """

    audience: str
    tenants: str = ""
    faults: Sequence[Fault] = ()

    @classmethod
    def of(cls, visibility: Visibility) -> Self:
        """The form for an entry with this visibility."""
        return cls(visibility.audience.value, "\n".join(visibility.tenants))

    @property
    def visibility(self) -> object:
        """The chosen visibility, in the contract's form."""
        if self.audience != Audience.TENANTS:
            return self.audience
        return {"tenants": [line.strip() for line in self.tenants.splitlines() if line.strip()]}

    def refused(self, error: InvalidDocumentError) -> Self:
        """The form with its faults."""
        return replace(self, faults=error.faults)


router = APIRouter(prefix="/entries/{entry_id}", route_class=PageRoute)


@router.get("/visibility")
async def show_visibility(
    request: Request, entry_id: str, viewer: ViewerDependency, state: StateDependency
) -> Response:
    """The form for the visibility of an entry."""
    head = await _own_head(state, viewer, entry_id)
    return _visibility_page(request, viewer, head, VisibilityForm.of(head.visibility))


@router.post("/visibility")
async def set_visibility(
    request: Request, entry_id: str, viewer: ViewerDependency, state: StateDependency, form: FormDependency
) -> Response:
    """Change the visibility of an entry."""
    asked = VisibilityForm(form.text("audience"), form.text("tenants"))
    try:
        wanted = visibility_of(validated_as(wire.VisibilityPatch, {"visibility": asked.visibility}).visibility)
    except InvalidDocumentError as error:
        head = await _own_head(state, viewer, entry_id)
        return _visibility_page(request, viewer, head, asked.refused(error))
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


def _visibility_page(request: Request, viewer: Viewer, head: Head, form: VisibilityForm) -> Response:
    shown = visibility_answer(head.visibility)
    body = {"visibility": to_jsonable_python(shown)}
    call = curl(viewer, f"/v1/entries/{head.id}", method="PATCH", body=body)
    words = [shown] if isinstance(shown, str) else [word for name in shown.tenants for word in ("--tenant", name)]
    commands = Commands((aegis("entries", "visibility", head.id, *words),), (call,))
    return page(
        request,
        "entry_visibility.html",
        422 if form.faults else 200,
        head=head,
        state=state_of(head),
        form=form,
        commands=commands,
        here="catalogue",
    )
