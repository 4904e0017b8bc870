"""What the list of data requests shows."""

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

#: How a state looks: good, a warning, bad, or neither.
TONES: Final = {
    "countered": "warn",
    "approved": "good",
    "delivered": "good",
    "received": "good",
    "disputed": "bad",
    "failed": "bad",
    "declined": "bad",
}

#: What moves a request on. Everything else that somebody may do ends it.
_MOVES_ON: Final = frozenset({Action.APPROVE, Action.COUNTER, Action.ACCEPT, Action.DELIVER, Action.RECEIVE})


class RequestFilter(BaseModel):
    """The fields that narrow the list; empty ones ask for nothing."""

    state: State | Literal[""] = ""
    side: Literal["", "consumer", "provider"] = ""
    entry: str = Field(default="", max_length=255)
    page_token: str = Field(default="", max_length=255)

    @property
    def asked(self) -> dict[str, str]:
        """The fields that ask for something, as parameters of the API."""
        named = {"state": self.state, "side": self.side, "entry": self.entry.strip()}
        return {name: str(text) for name, text in named.items() if text}

    def wanted(self) -> Wanted | None:
        """The same for the catalogue; None if no request can be like that, since the entry's id is none."""
        try:
            entry = UUID(self.entry.strip()) if self.entry.strip() else None
        except ValueError:
            return None
        return Wanted(State(self.state) if self.state else None, entry, Side(self.side) if self.side else None)

    def link(self, page_token: str | None = None) -> str:
        """The address of a page of this list; of the first one without a token."""
        asked = self.asked | ({} if page_token is None else {"page_token": page_token})
        return f"/requests?{urlencode(asked)}" if asked else "/requests"


@dataclass(frozen=True, slots=True)
class RequestList:
    """A page of the list.

    Attributes:
        form: the fields that narrow it.
        items: the requests, as the API lists them.
        next_page_token: of the next page; None on the last one.
    """

    form: RequestFilter
    items: tuple[wire.DataRequestHead, ...]
    next_page_token: str | None

    @property
    def states(self) -> list[tuple[str, str]]:
        """All states with their words, to choose from."""
        return [("", "Any"), *((state.value, state.value) for state in State)]

    @property
    def sides(self) -> list[tuple[str, str]]:
        """Both sides likewise."""
        return [("", "Both"), ("consumer", "We ask"), ("provider", "We are asked")]


def tone_of(state: str) -> str:
    """The class of a state's badge."""
    return TONES.get(state, "")


def waits_for_reader(request: wire.DataRequestHead) -> bool:
    """Whether the reader can move a request on."""
    return not _MOVES_ON.isdisjoint(request.possible)


def list_commands(viewer: Viewer, form: RequestFilter) -> Commands:
    """The lines that list the same."""
    options = [word for name, text in form.asked.items() for word in (f"--{name}", text)]
    return Commands((aegis("requests", "list", *options),), (curl(viewer, "/v1/requests", form.asked),))
