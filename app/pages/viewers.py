"""Who looks at a page."""

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
    """Somebody who looks at pages.

    Attributes:
        caller: for whom the services answer.
        token: of the session; empty in development mode.
        session: what is known of it; None in development mode.
        is_developer: whether the service is in development mode, where everybody may do everything.
    """

    caller: Caller
    token: str = field(default="", repr=False)
    session: Session | None = None
    is_developer: bool = False

    @property
    def name(self) -> str:
        """Who it is, for people."""
        return "developer" if self.is_developer else self.caller.subject or self.caller.tenant

    @property
    def roles(self) -> str:
        """The roles in words."""
        return ", ".join(sorted(self.caller.roles))

    @property
    def key_expires_at(self) -> datetime | None:
        """When the key expires with which the viewer has signed in, if that is soon."""
        key = None if self.session is None else self.session.key
        return key.expires_at if key is not None and key.expires_soon(datetime.now(UTC)) else None

    @property
    def csrf(self) -> str:
        """What a form of a page sends back; another text each time, and empty in development mode."""
        return csrf_token(self.token) if self.token else ""

    def has_sent(self, csrf: str) -> bool:
        """Whether a form comes from a page that was shown to this viewer."""
        return self.is_developer or is_csrf_token(csrf, self.token)


async def get_viewer(request: Request, state: StateDependency) -> Viewer:
    """Whoever looks at the page; the page's layout and its error pages know it, too.

    Raises:
        UnknownKeyError: nobody is signed in.
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
    """Whose session the browser has. This has a transaction of its own, as in the API."""
    token = session_token(request, state)
    async with state.database.transaction() as session:
        known = await services_of(state, session).sessions(state.session_rules).find(token)
    if known is None:
        raise UnknownKeyError("Sign in to see this page.")
    return Viewer(known.caller, token, known)


ViewerDependency = Annotated[Viewer, Depends(get_viewer)]
