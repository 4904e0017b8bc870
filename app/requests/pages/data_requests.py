"""The pages of data requests: their list, the page of a request, and its forms."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlencode
from uuid import UUID

import orjson
import structlog
from anyio import to_thread
from fastapi import APIRouter, Query, Request, Response
from markupsafe import Markup
from pydantic import BaseModel, Field

from aegis_sdk import wire
from app.edge.state import State, StateDependency, services_of
from app.entries.pages.entry import read_index
from app.entries.pages.entry_index import ABOUT, CONFIGURATIONS, ConfigurationRow, EntryIndex
from app.factory import Factory
from app.pages.commands import Commands, aegis, curl
from app.pages.forms import Form, FormDependency, draw_key, once, validated_as, whole_number
from app.pages.markdown import html_of
from app.pages.page import HEADERS, page, see
from app.pages.page_route import PageRoute, Refusal
from app.pages.slices import read_part
from app.pages.viewers import Viewer, ViewerDependency
from app.platform.errors import NotFoundError, RefusalError, UnknownKeyError
from app.requests.api.answers import head_answer, request_answer
from app.requests.api.routes import act
from app.requests.model.data_requests import Action, DataRequestPage, Side
from app.requests.model.data_requests import State as RequestState
from app.requests.pages import request as words
from app.requests.pages.request import RequestView, receipt_name
from app.requests.store.data_requests import Wanted

#: The actions that move a request on, so it waits for who can take one. All others end it.
_MOVES_ON: Final = frozenset({Action.APPROVE, Action.COUNTER, Action.ACCEPT, Action.DELIVER, Action.RECEIVE})


class RequestFilter(BaseModel):
    """The filters of the list; empty ones are ignored."""

    state: RequestState | Literal[""] = ""
    side: Literal["", "consumer", "provider"] = ""
    entry: str = Field(default="", max_length=255)
    page_token: str = Field(default="", max_length=255)

    @property
    def asked(self) -> dict[str, str]:
        """The filters that are set, as parameters of the API."""
        named = {"state": self.state, "side": self.side, "entry": self.entry.strip()}
        return {name: str(text) for name, text in named.items() if text}

    def wanted(self) -> Wanted | None:
        """The filters for the store; None if nothing can match, since the entry's id is not an id."""
        try:
            entry = UUID(self.entry.strip()) if self.entry.strip() else None
        except ValueError:
            return None
        return Wanted(RequestState(self.state) if self.state else None, entry, Side(self.side) if self.side else None)

    def link(self, page_token: str | None = None) -> str:
        """The address of a page of this list, by default the first."""
        asked = self.asked | ({} if page_token is None else {"page_token": page_token})
        return f"/requests?{urlencode(asked)}" if asked else "/requests"


router = APIRouter(route_class=PageRoute)

#: Requests per page.
PER_PAGE = 25


@router.get("/requests")
async def show_requests(
    request: Request, viewer: ViewerDependency, state: StateDependency, form: Annotated[RequestFilter, Query()]
) -> Response:
    """One page of requests, newest first, with the form of filters."""
    listed = await _listed(state, viewer, form)
    options = [word for name, text in form.asked.items() for word in (f"--{name}", text)]
    items = tuple(head_answer(one, viewer.caller, state.limits.request_days) for one in listed.items)
    return page(
        request,
        "requests.html",
        form=form,
        items=items,
        next_page_token=listed.next_page_token,
        states=[(one.value, one.value) for one in RequestState],
        words=words,
        moves_on=_MOVES_ON,
        commands=Commands((aegis("requests", "list", *options),), (curl(viewer, "/v1/requests", form.asked),)),
        here="requests",
    )


async def _listed(state: State, viewer: Viewer, form: RequestFilter) -> DataRequestPage:
    wanted = form.wanted()
    if wanted is None:
        return DataRequestPage((), None)
    async with state.database.transaction() as session:
        service = services_of(state, session).data_requests(state.recent)
        return await service.page(viewer.caller, wanted, PER_PAGE, form.page_token or None)


#: The number of the best configurations proposed for a counter-offer.
PROPOSED = 50


@router.get("/requests/{request_id}")
async def show_request(request_id: str, request: Request, viewer: ViewerDependency, state: StateDependency) -> Response:
    """A request, for both sides and operators."""
    return _page(request, viewer, await _view(state, viewer, request_id), "request.html")


@router.get("/requests/{request_id}/now")
async def show_change(
    request_id: str, request: Request, viewer: ViewerDependency, state: StateDependency, changed: str = ""
) -> Response:
    """The new content of the page if the request has changed."""
    async with state.database.transaction() as session:
        service = services_of(state, session).data_requests(state.recent)
        known = await service.read(viewer.caller, request_id)
    if known.changed_at.isoformat() == changed:
        return Response(status_code=204)
    return _page(request, viewer, await _view(state, viewer, request_id), "request_content.html")


@router.get("/requests/{request_id}/receipt")
async def download_receipt(request_id: str, viewer: ViewerDependency, state: StateDependency) -> Response:
    """The signed receipt of a request, as a file."""
    async with state.database.transaction() as session:
        claims, jws = await services_of(state, session).receipts(state.signer).make(viewer.caller, request_id)
    name = receipt_name(claims["request"])
    headers = {**HEADERS, "Content-Disposition": f'attachment; filename="{name}"'}
    return Response(orjson.dumps({"claims": claims, "jws": jws}), 200, headers, media_type="application/json")


async def _view(state: State, viewer: Viewer, request_id: str) -> RequestView:
    async with state.database.transaction() as session:
        service = services_of(state, session).data_requests(state.recent)
        known = await service.read(viewer.caller, request_id)
        shown = await request_answer(service, known, viewer.caller, state.limits.request_days)
        alternatives = await service.alternatives(viewer.caller, known, PROPOSED)
    index = None if shown.delivery and not alternatives else await _index(state, viewer, shown.entry)
    rows = {} if index is None else await to_thread.run_sync(_rows, index, {name for name, _ in alternatives})
    return RequestView(
        request=shown,
        sides=known.sides_of(viewer.caller),
        alternatives=tuple((name, cost, rows.get(name)) for name, cost in alternatives),
        once=draw_key(),
        is_signed=state.signer is not None,
        # The service made it HTML.
        described=None if shown.delivery or index is None else Markup(read_part(index.about, ABOUT).description),  # noqa: S704
        head=await _head(state, viewer, shown.delivery),
    )


async def _index(state: State, viewer: Viewer, entry: wire.RequestedEntry) -> EntryIndex | None:
    """The index of the requested version; None if the viewer may not see it."""
    try:
        _, index = await read_index(state, viewer.caller, str(entry.id), entry.version)
    except NotFoundError:
        return None
    return index


def _rows(index: EntryIndex, wanted: Collection[str]) -> dict[str, ConfigurationRow]:
    """The rows of these configurations on the page of their entry. Slow if they stand far down."""
    rows: dict[str, ConfigurationRow] = {}
    for part in index.configurations:
        if len(rows) == len(wanted):
            break
        rows |= {row.id: row for row in read_part(part, CONFIGURATIONS) if row.id in wanted}
    return rows


async def _head(state: State, viewer: Viewer, delivery: wire.Delivery | None) -> Markup | None:
    """The head of a delivery's release card; its provider may have sent any text."""
    text = None if delivery is None or delivery.card is None else delivery.card.get("for_consumers")
    if not isinstance(text, str) or len(text) > wire.DESCRIPTION_LENGTH:
        return None
    return await state.making.run(html_of, text, on_behalf_of=viewer.caller.tenant)


def _page(request: Request, viewer: Viewer, view: RequestView, template: str, status: int = 200) -> Response:
    may_erase = view.is_consumer and view.request.contact is not None
    return page(
        request,
        template,
        status,
        view=view,
        words=words,
        commands=words.request_commands(viewer, view.request, may_erase=may_erase, is_signed=view.is_signed),
        here="requests",
    )


_log = structlog.get_logger(__name__)

_ERASE: Final = "erase-contact"

_MODELS: Final[Mapping[str, type[wire.Step]]] = {
    "approve": wire.Approve,
    "counter": wire.Counter,
    "decline": wire.Decline,
    "accept": wire.Accept,
    "withdraw": wire.Withdraw,
    "end": wire.End,
}

#: The actions that have forms.
STEPS: Final = (*_MODELS, _ERASE)


@router.post("/requests/{request_id}/{action}")
async def change_request(
    request_id: str,
    action: str,
    request: Request,
    viewer: ViewerDependency,
    state: StateDependency,
    form: FormDependency,
) -> Response:
    """Take an action on a request, only once per form, and redirect to its page."""
    if action not in STEPS:
        raise NotFoundError(f"There is no step {action[:50]!r} of a request.")
    try:
        changed_id = await _take(state, viewer, request_id, action, form)
    except (NotFoundError, UnknownKeyError):
        raise
    except RefusalError as error:
        refusal = Refusal.of(request, error)
        view = replace(await _view(state, viewer, request_id), refusal=refusal, acted=action, typed=form)
        return refusal.on(_page(request, viewer, view, "request.html", refusal.status))
    return see(f"/requests/{changed_id}")


async def _take(state: State, viewer: Viewer, request_id: str, action: str, form: Form) -> str:
    async def take(services: Factory) -> str:
        if action == _ERASE:
            changed = await services.data_requests(state.recent).erase_contact(viewer.caller, request_id)
            _log.info("contact erased", data_request=changed.id, by=viewer.caller.subject)
            return changed.id
        asked = validated_as(_MODELS[action], _members(action, form))
        return (await act(services, state, viewer.caller, request_id, asked)).id

    return await once(state, viewer, f"/requests/{request_id}/{action}", form, take)


def _members(action: str, form: Form) -> dict[str, Any]:
    """The members of an action's form. An empty limit of requests means no limit."""
    members: dict[str, Any] = {"action": action, "reason": form.text("reason") or None}
    if action == Action.COUNTER:
        members["configuration"] = form.text("configuration")
    if action in (Action.APPROVE, Action.COUNTER):
        members["accept_composition"] = form.has("accept_composition")
    if action == Action.APPROVE and form.text("limit-requests"):
        typed = {name: form.text(f"limit-{name}") for name in ("requests", "days")}
        members["limit"] = {name: whole_number(text) for name, text in typed.items() if text}
    return members
