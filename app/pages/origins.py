"""The console's origin, and the check that its own pages send its forms.

Any web page can send forms to a guessed address, also on loopback, but browsers do not let it forge its own origin
(Fetch, section 3.1; Fetch Metadata).
"""

import re
from typing import Final
from urllib.parse import urlsplit

from fastapi import Request

from app.edge.state import State
from app.platform.errors import RoleNotAllowedError
from app.platform.http.refusals import MalformedRequestError
from app.settings import LOOPBACK

#: Methods that change nothing.
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

#: A path of this service: not `//host`, without `\`, which browsers read as `/`, and without blanks and control
#: characters, some of which they drop (URL Standard, section 4.4).
_OWN_PATH: Final = re.compile(r"/(?!/)[!-\[\]-~]{0,2000}")


def own_origin(request: Request, state: State) -> str:
    """The console's origin: the configured one, else that of the request (MalformedRequestError: no valid Host)."""
    origin = state.console_origin or f"{request.scope['scheme']}://{request.headers.get('host', '').lower()}"
    try:
        name = urlsplit(origin).hostname
    except ValueError:
        name = None
    if name is None:
        raise MalformedRequestError("The header Host names no host.")
    return origin


def is_private(request: Request, state: State) -> bool:
    """Whether nobody can read what the browser sends: it uses HTTPS, or runs on this machine."""
    origin = urlsplit(own_origin(request, state))
    return origin.scheme == "https" or origin.hostname in LOOPBACK


def own_path(text: str) -> str:
    """The path, if it belongs to this service; else that of the home page."""
    return text if _OWN_PATH.fullmatch(text) else "/"


def refuse_foreign_origin(request: Request, state: State) -> None:
    """Refuse a change unless one of the console's pages sent the request.

    Raises:
        RoleNotAllowedError: another page sent it, or the browser does not name the page's origin.
    """
    if request.method in SAFE_METHODS:
        return
    origin, own = request.headers.get("origin"), own_origin(request, state)
    if request.headers.get("host", "").lower() != urlsplit(own).netloc:
        raise RoleNotAllowedError(f"The console is at {own}; a proxy in front of it must forward the header Host.")
    is_own = request.headers.get("sec-fetch-site") == "same-origin" if origin is None else origin == own
    if not is_own:
        raise RoleNotAllowedError(f"This form must come from a page of {own}, in a browser that sends its origin.")
