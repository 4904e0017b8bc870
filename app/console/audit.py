"""The pages of the audit log: its records, and a check that it is unaltered."""

import re
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request, Response

from app.audit.api.routes import check_part
from app.audit.model import START, Place
from app.console.audit_view import CheckView, RecordsForm, ShownRecord, audit_commands, export_lines
from app.edge.state import State, StateDependency, services_of
from app.pages.commands import Commands
from app.pages.forms import Form, FormDependency
from app.pages.page import page
from app.pages.page_route import PageRoute
from app.pages.viewers import Viewer, ViewerDependency
from app.platform.http.refusals import MalformedRequestError

router = APIRouter(route_class=PageRoute)

#: Records per page.
PER_PAGE = 25

_NUMBER: Final = re.compile(r"\d{1,15}", re.ASCII)
_HASH: Final = re.compile(r"[0-9a-f]{64}")


@router.get("/operator/audit")
async def show_records(
    request: Request, viewer: ViewerDependency, state: StateDependency, form: Annotated[RecordsForm, Query()]
) -> Response:
    """Records of the audit log, newest first."""
    async with state.database.transaction() as session:
        audit = services_of(state, session).audit()
        records, token = await audit.page(viewer.caller, form.wanted(), PER_PAGE, form.page_token or None)
    return page(
        request,
        "operator/audit.html",
        form=form,
        records=list(map(ShownRecord.of, records)),
        next_token=token,
        commands=audit_commands(viewer, form),
        here="operator",
    )


@router.get("/operator/audit/check")
async def check_log(request: Request, viewer: ViewerDependency, state: StateDependency) -> Response:
    """Check the log from its first record on, part by part; the page continues by itself."""
    return _check_page(request, viewer, await _checked(state, viewer, START, 0))


@router.post("/operator/audit/check")
async def check_on(
    request: Request, viewer: ViewerDependency, state: StateDependency, form: FormDependency
) -> Response:
    """Check the next part in a browser without scripts."""
    return _check_page(request, viewer, await _checked(state, viewer, *_reached(form)))


@router.post("/operator/audit/check/part")
async def check_further(
    request: Request, viewer: ViewerDependency, state: StateDependency, form: FormDependency
) -> Response:
    """The next part of the check, and its progress."""
    return page(request, "operator/check.html", check=await _checked(state, viewer, *_reached(form)))


def _reached(form: Form) -> tuple[Place, int]:
    """The progress of a check. A form carries it, so that no link can start a check after a changed record.

    Raises:
        MalformedRequestError: the form lacks it.
    """
    after, own, signed = form.text("after"), form.text("hash"), form.text("signed")
    if not (_NUMBER.fullmatch(after) and _HASH.fullmatch(own) and _NUMBER.fullmatch(signed)):
        raise MalformedRequestError("The form lacks the progress of the check: start it again.")
    return Place(int(after), own), min(int(signed), int(after))


def _check_page(request: Request, viewer: Viewer, check: CheckView) -> Response:
    commands = Commands(export_lines(viewer))
    return page(request, "operator/audit_check.html", check=check, commands=commands, here="operator")


async def _checked(state: State, viewer: Viewer, after: Place, signed: int) -> CheckView:
    part = await check_part(state, viewer.caller, after)
    return CheckView(part, max(signed, part.signed))
