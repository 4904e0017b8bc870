"""What the page to sign in shows."""

from dataclasses import dataclass
from urllib.parse import urlencode

from app.pages.commands import Commands, aegis, curl
from app.pages.viewers import Viewer


@dataclass(frozen=True, slots=True)
class SignInView:
    """The page to sign in.

    Attributes:
        path: where to go then.
        origin: where the browser has asked for the page.
        is_private: whether nobody on the way can read what the browser sends; if not, nobody signs in.
        has_issuer: whether people can sign in at an issuer of tokens.
        refusal: why the last try failed; None for the first one.
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
    """The lines that use a key: nobody signs in or out in a terminal, since each command sends its key."""
    return Commands((aegis("entries", "list"), "unset AEGIS_API_KEY"), (curl(viewer, "/v1/quota"),))
