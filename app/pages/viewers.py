"""The viewers of pages."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Request

from app.callers.model import Session
from app.edge.state import State, StateDependency, services_of
from app.pages.cookies import session_token
from app.pages.csrf import csrf_token, is_csrf_token
from app.platform.callers import DEVELOPER, Caller
from app.platform.errors import UnknownKeyError
from app.platform.http.rate_limit import take_turn
from app.platform.http.recognition import note_known, refuse_other_name


@dataclass(frozen=True, slots=True)
class Viewer:
    """The viewer of a page.

    Attributes:
        token: the token of the session; empty in development mode.
        session: None in development mode.
        is_developer: whether the service is in development mode, where everyone may do everything.
    """

    caller: Caller
    token: str = field(default="", repr=False)
    session: Session | None = None
    is_developer: bool = False

    @property
    def name(self) -> str:
        """The viewer's name for people."""
        return "developer" if self.is_developer else self.caller.subject or self.caller.tenant

    @property
    def roles(self) -> str:
        """The roles in words."""
        return ", ".join(sorted(self.caller.roles))

    @property
    def key_expires_at(self) -> datetime | None:
        """When the viewer's key expires, if that is soon."""
        key = None if self.session is None else self.session.key
        return key.expires_at if key is not None and key.expires_soon(datetime.now(UTC)) else None

    @property
    def csrf(self) -> str:
        """A CSRF token for the forms of a page, different every time; empty in development mode."""
        return csrf_token(self.token) if self.token else ""

    def has_sent(self, csrf: str) -> bool:
        """Whether a form with this token comes from a page of this viewer."""
        return self.is_developer or is_csrf_token(csrf, self.token)


async def get_viewer(request: Request, state: StateDependency) -> Viewer:
    """The viewer, stored in the request for the layout and for error pages.

    Raises:
        UnknownKeyError: not signed in.
        RateExceededError: the viewer's tenant sends too many requests.
    """
    if state.development_mode:
        refuse_other_name(request.headers.get("host", ""))
        viewer = Viewer(DEVELOPER, is_developer=True)
    else:
        viewer = await _signed_in(request, state)
        note_known(request, lambda: _signed_in(request, state))
    request.state.viewer = viewer
    if state.limits.requests is not None:
        take_turn(request, state.limits.requests, viewer.caller.tenant)
    return viewer


async def _signed_in(request: Request, state: State) -> Viewer:
    """The holder of the browser's session, in a transaction of its own, as in the API."""
    token = session_token(request, state)
    async with state.database.transaction() as session:
        known = await services_of(state, session).sessions(state.session_rules).find(token)
    if known is None:
        raise UnknownKeyError("Sign in to see this page.")
    return Viewer(known.caller, token, known)


ViewerDependency = Annotated[Viewer, Depends(get_viewer)]
