"""The view of the sign-in page."""

from dataclasses import dataclass
from urllib.parse import urlencode

from app.pages.commands import Commands, aegis, curl
from app.pages.viewers import Viewer


@dataclass(frozen=True, slots=True)
class SignInView:
    """The sign-in page.

    Attributes:
        path: the page to open afterwards.
        origin: the origin in the browser's address.
        is_private: whether nobody can read what the browser sends; if not, signing in is refused.
        has_issuer: whether people can sign in at an issuer of tokens.
        refusal: the reason of the last failure, if any.
        is_unsent: whether a form was sent after its session had ended.
    """

    path: str
    origin: str
    is_private: bool
    has_issuer: bool
    refusal: str | None = None
    is_unsent: bool = False

    @property
    def issuer_link(self) -> str:
        """The address that leads to the issuer."""
        return f"/sign-in/oidc?{urlencode({'next': self.path})}"


def session_commands(viewer: Viewer | None) -> Commands:
    """The commands that use a key: a terminal needs no session, since every command sends its key."""
    return Commands((aegis("entries", "list"), "unset AEGIS_API_KEY"), (curl(viewer, "/v1/quota"),))
