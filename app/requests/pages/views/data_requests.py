"""The view of the list of data requests."""

from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import urlencode
from uuid import UUID

from pydantic import BaseModel, Field

from aegis_sdk import wire
from app.pages.commands import Commands, aegis, curl
from app.pages.viewers import Viewer
from app.requests.model.data_requests import Action, Side, State
from app.requests.store.data_requests import Wanted

#: The tone of a state: good, a warning, bad, or neither.
TONES: Final = {
    "countered": "warn",
    "approved": "good",
    "delivered": "good",
    "received": "good",
    "disputed": "bad",
    "failed": "bad",
    "declined": "bad",
}

#: The actions that move a request on. All others end it.
_MOVES_ON: Final = frozenset({Action.APPROVE, Action.COUNTER, Action.ACCEPT, Action.DELIVER, Action.RECEIVE})


class RequestFilter(BaseModel):
    """The filters of the list; empty ones are ignored."""

    state: State | Literal[""] = ""
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
        return Wanted(State(self.state) if self.state else None, entry, Side(self.side) if self.side else None)

    def link(self, page_token: str | None = None) -> str:
        """The address of a page of this list, by default the first."""
        asked = self.asked | ({} if page_token is None else {"page_token": page_token})
        return f"/requests?{urlencode(asked)}" if asked else "/requests"


@dataclass(frozen=True, slots=True)
class RequestList:
    """A page of the list.

    Attributes:
        form: the filters.
        items: the requests as in the API's listing.
        next_page_token: None on the last page.
    """

    form: RequestFilter
    items: tuple[wire.DataRequestHead, ...]
    next_page_token: str | None

    @property
    def states(self) -> list[tuple[str, str]]:
        """The options of the state filter."""
        return [("", "Any"), *((state.value, state.value) for state in State)]

    @property
    def sides(self) -> list[tuple[str, str]]:
        """The options of the side filter."""
        return [("", "Both"), ("consumer", "We ask"), ("provider", "We are asked")]


def tone_of(state: str) -> str:
    """The class of a state's badge."""
    return TONES.get(state, "")


def waits_for_reader(request: wire.DataRequestHead) -> bool:
    """Whether the request waits for an action of its reader."""
    return not _MOVES_ON.isdisjoint(request.possible)


def list_commands(viewer: Viewer, form: RequestFilter) -> Commands:
    """The commands for the same list."""
    options = [word for name, text in form.asked.items() for word in (f"--{name}", text)]
    return Commands((aegis("requests", "list", *options),), (curl(viewer, "/v1/requests", form.asked),))
