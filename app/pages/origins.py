"""Where the console is, and whether one of its pages has sent a form.

Any web page can send forms to a service that it guesses, on loopback too, but no browser lets it lie about where it
comes from (Fetch, section 3.1; Fetch Metadata).
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

#: A path of this service. It is not `//host`, and has no `\`, which browsers take for `/`, nor blanks and control
#: characters, some of which they leave out (URL Standard, section 4.4).
_OWN_PATH: Final = re.compile(r"/(?!/)[!-\[\]-~]{0,2000}")


def own_origin(request: Request, state: State) -> str:
    """The console's origin: the one that is set, else where the browser asks.

    Raises:
        MalformedRequestError: the request does not say where.
    """
    origin = state.console_origin or f"{request.scope['scheme']}://{request.headers.get('host', '').lower()}"
    try:
        name = urlsplit(origin).hostname
    except ValueError:
        name = None
    if name is None:
        raise MalformedRequestError("The header Host names no host.")
    return origin


def is_private(request: Request, state: State) -> bool:
    """Whether nobody on the way can read what the browser sends: it uses HTTPS, or runs on this machine."""
    origin = urlsplit(own_origin(request, state))
    return origin.scheme == "https" or origin.hostname in LOOPBACK


def own_path(text: str) -> str:
    """A path to go to, if it is one of this service; else the path of its first page."""
    return text if _OWN_PATH.fullmatch(text) else "/"


def refuse_foreign_origin(request: Request, state: State) -> None:
    """Refuse a request that changes something unless one of the own pages has sent it.

    Raises:
        RoleNotAllowedError: another page has sent it, or the browser does not say which one.
    """
    if request.method in SAFE_METHODS:
        return
    origin, own = request.headers.get("origin"), own_origin(request, state)
    if request.headers.get("host", "").lower() != urlsplit(own).netloc:
        raise RoleNotAllowedError(f"The console is at {own}: a proxy in front must pass the header Host on.")
    is_own = request.headers.get("sec-fetch-site") == "same-origin" if origin is None else origin == own
    if not is_own:
        raise RoleNotAllowedError(f"This form must be sent from a page of {own}, in a browser that says so.")
