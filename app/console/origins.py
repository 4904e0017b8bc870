"""Whether a form was sent by a page of the console. Any web page can send forms to a service that it guesses, on
loopback too, but no browser lets it lie about where it comes from (Fetch, section 3.1; Fetch Metadata).
"""

from fastapi import Request

from app.domain.errors import RoleNotAllowedError

#: Methods that change nothing.
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def refuse_foreign_origin(request: Request) -> None:
    """Refuse a request that changes something unless one of the own pages has sent it.

    Raises:
        RoleNotAllowedError: another page has sent it, or the browser does not say which one.
    """
    if request.method in SAFE_METHODS:
        return
    origin = request.headers.get("origin")
    own = f"{request.url.scheme}://{request.headers.get('host', '')}"
    is_own = request.headers.get("sec-fetch-site") == "same-origin" if origin is None else origin == own
    if not is_own:
        raise RoleNotAllowedError(f"This form must be sent from a page of {own}, in a browser that says so.")
