"""The audit log: what was done, and whether the log is as it was written."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.console.commands import Commands
from app.console.page import page
from app.console.page_route import PageRoute
from app.console.viewers import Viewer, ViewerDependency
from app.console.views.audit import CheckView, RecordsForm, ShownRecord, audit_commands, export_lines
from app.domain.audit import Place
from app.services.audit_chain import START
from app.web.audit_check import check_part
from app.web.state import State, StateDependency, services_of

router = APIRouter(route_class=PageRoute)

#: How many records a page has.
PER_PAGE = 25

After = Annotated[int, Query(ge=0, lt=2**53)]
Hash = Annotated[str, Query(pattern="^[0-9a-f]{64}$")]


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
async def check_log(
    request: Request,
    viewer: ViewerDependency,
    state: StateDependency,
    after: After = START.sequence,
    own: Annotated[Hash, Query(alias="hash")] = START.hash,
    signed: After = 0,
) -> Response:
    """Check the log from a record on, part by part; the page goes on by itself."""
    check = await _checked(state, viewer, Place(after, own), signed)
    commands = Commands(export_lines(viewer))
    return page(request, "operator/audit_check.html", check=check, commands=commands, here="operator")


@router.get("/operator/audit/check/part")
async def check_further(
    request: Request,
    viewer: ViewerDependency,
    state: StateDependency,
    after: After,
    own: Annotated[Hash, Query(alias="hash")],
    signed: After = 0,
) -> Response:
    """The next part of the check, and how far it is."""
    return page(request, "operator/check.html", check=await _checked(state, viewer, Place(after, own), signed))


async def _checked(state: State, viewer: Viewer, after: Place, signed: int) -> CheckView:
    part = await check_part(state, viewer.caller, after)
    return CheckView(part, max(signed, part.signed))
