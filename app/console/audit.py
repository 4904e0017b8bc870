"""The pages of the audit log: its records, and a check that it is unaltered."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Final, TypeVar
from urllib.parse import urlencode
from uuid import UUID

import orjson
from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from aegis_sdk import wire
from app.audit.api import CheckedPart, check_part
from app.audit.model import START, AuditAction, Place, WantedRecords
from app.edge.state import State, StateDependency, services_of
from app.pages.commands import Commands, aegis, curl, server
from app.pages.forms import Form, FormDependency
from app.pages.page import page
from app.pages.page_route import PageRoute
from app.pages.viewers import Viewer, ViewerDependency
from app.pages.words import count
from app.platform.errors import Fault, InvalidDocumentError
from app.platform.http.refusals import MalformedRequestError

Value = TypeVar("Value")

_ABOUT_AUDIENCES = frozenset({AuditAction.PUBLISH_ENTRY, AuditAction.SHOW_ENTRY})

router = APIRouter(route_class=PageRoute)

#: Records per page.
PER_PAGE = 25

_NUMBER: Final = re.compile(r"\d{1,15}", re.ASCII)
_HASH: Final = re.compile(r"[0-9a-f]{64}")


class RecordsForm(BaseModel):
    """The filters of the list; empty ones are ignored."""

    since: str = Field(default="", max_length=64)
    until: str = Field(default="", max_length=64)
    entry: str = Field(default="", max_length=64)
    request: str = Field(default="", max_length=64)
    page_token: str = Field(default="", max_length=64)

    @property
    def asked(self) -> dict[str, str]:
        """The filters that are set, as parameters of the API."""
        return {name: text.strip() for name, text in self.model_dump(exclude={"page_token"}).items() if text.strip()}

    def wanted(self) -> WantedRecords:
        """The filters for the service (InvalidDocumentError: a field is not a time or not an id)."""
        times = [self._read(name, _moment, "a date, such as 2026-03-01") for name in ("since", "until")]
        ids = [self._read(name, UUID, "an id, such as those in the list") for name in ("entry", "request")]
        return WantedRecords(times[0], times[1], ids[0], ids[1])

    def _read(self, name: str, read: Callable[[str], Value], what: str) -> Value | None:
        try:
            return read(self.asked[name]) if name in self.asked else None
        except ValueError:
            fault = Fault(f"/{name}", f"Must be {what}.")
            raise InvalidDocumentError("The filters are invalid.", (fault,)) from None

    def link(self, page_token: str | None = None) -> str:
        """The address of a page of this list, by default the first."""
        asked = self.asked | ({} if page_token is None else {"page_token": page_token})
        return f"/operator/audit?{urlencode(asked)}" if asked else "/operator/audit"


def _moment(text: str) -> datetime:
    """A date or a time, by default in UTC."""
    at = datetime.fromisoformat(text)
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at


@dataclass(frozen=True, slots=True)
class ShownRecord:
    """A record, and its hashed form (RFC 8785 JSON), here with line breaks."""

    record: wire.AuditRecord
    text: str

    @property
    def value(self) -> str:
        """The value that was set, in words."""
        value = self.record.value or ""
        if self.record.action not in _ABOUT_AUDIENCES:
            return value
        others = {"all": "all", "private": "its own tenant only"}
        return f"visible to {others.get(value, value)}" if value else ""


def audit_commands(viewer: Viewer, form: RecordsForm) -> Commands:
    """The commands for the same list."""
    options = [word for name, text in form.asked.items() for word in (f"--{name}", text)]
    asked = form.asked | {
        name: at.isoformat() for name, at in (("since", form.wanted().since), ("until", form.wanted().until)) if at
    }
    return Commands((aegis("audit", *options), *export_lines(viewer)), (curl(viewer, "/v1/audit", asked),))


def export_lines(viewer: Viewer) -> tuple[str, ...]:
    """The commands that export the log, fetch the public keys, and verify the file with them."""
    file, keys = "audit.jsonl", "aegis-keys.json"
    return (
        server("audit", "export", "--output", file),
        f"{curl(viewer, '/.well-known/aegis-keys.json')} > {keys}",
        server("audit", "verify", file, "--keys", keys),
    )


@dataclass(frozen=True, slots=True)
class CheckView:
    """The progress of the check of the log.

    Attributes:
        signed: the last checked record that a signed head covers; 0 if there is none.
    """

    part: CheckedPart
    signed: int

    @property
    def coverage(self) -> str:
        """How much the signatures cover, in a sentence."""
        last, first = self.part.last.sequence, self.signed + 1
        if first > last:
            return "All of them are signed."
        which = f"Record {count(last)} is" if first == last else f"Records {count(first)} to {count(last)} are"
        return f"{which} not signed yet; a worker signs them once a day."


@router.get("/operator/audit")
async def show_records(
    request: Request, viewer: ViewerDependency, state: StateDependency, form: Annotated[RecordsForm, Query()]
) -> Response:
    """Records of the audit log, newest first."""
    async with state.database.transaction() as session:
        audit = services_of(state, session).audit()
        records, token = await audit.page(viewer.caller, form.wanted(), PER_PAGE, form.page_token or None)
    shown = [
        ShownRecord(
            wire.AuditRecord.model_validate_json(one),
            orjson.dumps(orjson.loads(one), option=orjson.OPT_INDENT_2).decode(),
        )
        for one in records
    ]
    return page(
        request,
        "operator/audit.html",
        form=form,
        records=shown,
        next_token=token,
        commands=audit_commands(viewer, form),
        here="operator",
    )


@router.get("/operator/audit/check")
async def check_log(request: Request, viewer: ViewerDependency, state: StateDependency) -> Response:
    """Check the log from its first record on, part by part; the page continues by itself."""
    return await _check_page(request, viewer, state, START, 0)


@router.post("/operator/audit/check")
async def check_on(
    request: Request, viewer: ViewerDependency, state: StateDependency, form: FormDependency
) -> Response:
    """Check the next part in a browser without scripts."""
    return await _check_page(request, viewer, state, *_reached(form))


@router.post("/operator/audit/check/part")
async def check_further(
    request: Request, viewer: ViewerDependency, state: StateDependency, form: FormDependency
) -> Response:
    """The next part of the check, and its progress."""
    return await _check_page(request, viewer, state, *_reached(form), template="operator/check.html")


def _reached(form: Form) -> tuple[Place, int]:
    """The progress of a check. A form carries it, so that no link can start a check after a changed record.

    Raises:
        MalformedRequestError: the form lacks it.
    """
    after, own, signed = form.text("after"), form.text("hash"), form.text("signed")
    if not (_NUMBER.fullmatch(after) and _HASH.fullmatch(own) and _NUMBER.fullmatch(signed)):
        raise MalformedRequestError("The form lacks the progress of the check: start it again.")
    return Place(int(after), own), min(int(signed), int(after))


async def _check_page(
    request: Request,
    viewer: Viewer,
    state: State,
    after: Place,
    signed: int,
    template: str = "operator/audit_check.html",
) -> Response:
    """Check the next part of the log, and show the progress; `signed`: the last record known to be signed."""
    part = await check_part(state, viewer.caller, after)
    check = CheckView(part, max(signed, part.signed))
    return page(request, template, check=check, commands=Commands(export_lines(viewer)), here="operator")
