"""Who looks at a page."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from app.domain.callers import DEVELOPER, Caller
from app.domain.errors import UnknownKeyError
from app.web.own_name import refuse_other_name
from app.web.state import StateDependency


@dataclass(frozen=True, slots=True)
class Viewer:
    """Somebody who looks at pages.

    Attributes:
        caller: for whom the services answer.
        csrf: what every form of this page sends back; empty in development mode.
        is_developer: whether the service is in development mode, where everybody may do everything.
    """

    caller: Caller
    csrf: str = ""
    is_developer: bool = False

    @property
    def name(self) -> str:
        """Who it is, for people."""
        return "developer" if self.is_developer else self.caller.subject or self.caller.tenant

    @property
    def roles(self) -> str:
        """The roles in words."""
        return ", ".join(sorted(self.caller.roles))

    def has_sent(self, csrf: str) -> bool:
        """Whether a form comes from a page that was shown to this viewer."""
        return self.is_developer and not csrf


async def get_viewer(request: Request, state: StateDependency) -> Viewer:
    """Whoever looks at the page; the page's layout and its error pages know it, too.

    Raises:
        UnknownKeyError: nobody is signed in.
    """
    if not state.development_mode:
        raise UnknownKeyError("Sign in to see this page.")
    refuse_other_name(request.headers.get("host", ""))
    request.state.viewer = Viewer(DEVELOPER, is_developer=True)
    viewer: Viewer = request.state.viewer
    return viewer


ViewerDependency = Annotated[Viewer, Depends(get_viewer)]
