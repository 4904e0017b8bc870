"""The page of the catalogue: entries that the viewer may see, and the form to search them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final, Self
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from pydantic import AfterValidator, BaseModel, Field, ValidationError
from starlette.datastructures import Headers
from starlette.routing import Match
from starlette.types import Scope

from aegis_sdk import wire
from app.edge.state import State, StateDependency, services_of
from app.entries.api.mapping import page_answer
from app.entries.api.parameters import by_worth, guarantee_in, without_control_characters
from app.entries.model.worth import ASKED_K
from app.entries.store.searches import Order, Search
from app.pages.commands import Commands, aegis, curl
from app.pages.page import page
from app.pages.page_route import PageRoute, is_browser
from app.pages.viewers import Viewer, ViewerDependency
from app.pages.words import bound
from app.platform.errors import Fault, InvalidDocumentError

#: The fields of the form that are also parameters of the API.
_PARAMETERS: Final = ("query", "attribute", "label", "license", "keyword")

_Text = Annotated[str, Field(max_length=255), AfterValidator(without_control_characters)]

#: The number of entries on a page.
PER_PAGE = 25


class _Fields(BaseModel):
    """The fields of the search; empty ones have no effect."""

    query: _Text = ""
    attribute: _Text = ""
    label: _Text = ""
    license: Annotated[str, Field(max_length=300), AfterValidator(without_control_characters)] = ""
    keyword: _Text = ""
    criterion: _Text = "k"
    limit: Annotated[str, Field(max_length=30), AfterValidator(without_control_characters)] = ""
    page_token: _Text = ""


@dataclass(frozen=True, slots=True)
class SearchForm:
    """The search form as filled in, with faults by field; `search`: None if there are any."""

    fields: Mapping[str, str]
    faults: Mapping[str, str] = field(default_factory=dict)
    search: Search | None = None

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> Self:
        """The form from the parameters of the page's address."""
        typed = {name: parameters.get(name, "").strip() for name in _Fields.model_fields}
        typed["criterion"] = typed["criterion"] or "k"
        try:
            _Fields.model_validate(typed)
        except ValidationError as error:
            return cls(typed, {str(line["loc"][0]): line["msg"] for line in error.errors()})
        try:
            guarantee = guarantee_in(_guarantee(typed))
        except InvalidDocumentError:
            return cls(typed, {"limit": "Give a number, such as 10 or 0.2"})
        texts: dict[str, Any] = {name: typed[name] or None for name in _PARAMETERS}
        search = Search(**texts, required=guarantee)
        is_by_worth = search.label is not None and guarantee.at_least.get("k", math.inf) <= ASKED_K[-1]
        return cls(typed, {}, by_worth(replace(search, order=Order.WORTH)) if is_by_worth else search)

    @property
    def asked(self) -> dict[str, str]:
        """The search as parameters of the API."""
        asked = {name: self.fields[name] for name in _PARAMETERS if self.fields[name]}
        guarantee = _guarantee(self.fields)
        asked |= {"require": guarantee} if guarantee else {}
        return asked | ({"sort": "worth"} if self.is_by_worth else {})

    @property
    def is_by_worth(self) -> bool:
        """Whether those come first on whose best table a model should do best: with a label and a known k."""
        return self.search is not None and self.search.order is Order.WORTH

    def link(self, page_token: str | None = None) -> str:
        """The address of a page of this search; of the first one without a token."""
        own = {name: text for name, text in self.fields.items() if text and name != "page_token"}
        if not self.fields["limit"]:
            own.pop("criterion", None)
        own |= {} if page_token is None else {"page_token": page_token}
        return f"/?{urlencode(own)}" if own else "/"


def _guarantee(fields: Mapping[str, str]) -> str:
    """The privacy requirement in the API's form; empty without one."""
    return f"{fields['criterion']}={fields['limit']}" if fields["limit"] else ""


def catalogue_commands(viewer: Viewer, form: SearchForm) -> Commands:
    """Commands for the same search."""
    asked = form.asked
    call = curl(viewer, "/v1/entries", asked)
    if "license" in asked:  # for which `aegis search` has no option
        return Commands((), (call,))
    options = [word for name, text in asked.items() if name not in ("query", "sort") for word in (f"--{name}", text)]
    words = asked.get("query", "").split()
    return Commands((aegis("search", *options, *(["--", *words] if words else ())),), (call,))


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
        criteria={name: f"{name}, {bound(name)}" for name in wire.PRIVACY_CRITERIA},
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
    """The matches of a search; if its page token is invalid or its label is unknown, the form has a fault."""
    try:
        async with state.database.transaction() as session:
            catalogue = services_of(state, session).catalogue()
            found = await catalogue.page(viewer.caller, search, PER_PAGE, form.fields["page_token"] or None)
    except InvalidDocumentError as error:
        fault = error.faults[0] if error.faults else Fault("/page_token", error.detail)
        return replace(form, faults={fault.pointer.removeprefix("/"): fault.detail}), None
    return form, page_answer(found)
