"""The cookies of the console: which session a browser has, and which sign-in it has begun."""

from fastapi import Request, Response

from app.edge.state import State
from app.pages.origins import own_origin

#: Seconds in which people can sign in at the issuer.
SIGN_IN_SECONDS = 600

_SESSION, _SIGN_IN = "aegis_session", "aegis_sign_in"


def session_token(request: Request, state: State) -> str:
    """The token of the browser's session; empty if it sends none."""
    return request.cookies.get(_name(_SESSION, request, state), "")


def pending_sign_in(request: Request, state: State) -> str:
    """The sign-in that the browser has begun; empty if it sends none."""
    return request.cookies.get(_name(_SIGN_IN, request, state), "")


def keep_session(answer: Response, request: Request, state: State, token: str) -> None:
    """Have the browser send a session's token until it is closed."""
    _set(answer, request, state, _SESSION, token)


def keep_sign_in(answer: Response, request: Request, state: State, pending: str) -> None:
    """Have the browser send a pending sign-in for some minutes."""
    _set(answer, request, state, _SIGN_IN, pending, SIGN_IN_SECONDS)


def forget_session(answer: Response, request: Request, state: State) -> None:
    """Have the browser forget its session."""
    _set(answer, request, state, _SESSION, "", 0)


def forget_sign_in(answer: Response, request: Request, state: State) -> None:
    """Have the browser forget its pending sign-in."""
    _set(answer, request, state, _SIGN_IN, "", 0)


def _set(answer: Response, request: Request, state: State, name: str, value: str, seconds: int | None = None) -> None:
    """Set a cookie that scripts cannot read, and that forms of other sites do not send.

    It is `Lax` and not `Strict`, since the issuer sends browsers back, and people follow links to pages of the console.
    """
    is_secure = _is_secure(request, state)
    named = _name(name, request, state)
    answer.set_cookie(named, value, max_age=seconds, path="/", secure=is_secure, httponly=True, samesite="lax")


def _name(name: str, request: Request, state: State) -> str:
    """The name in the browser: over HTTPS one that no other host and no page without TLS can set (RFC 6265bis)."""
    return f"__Host-{name}" if _is_secure(request, state) else name


def _is_secure(request: Request, state: State) -> bool:
    return own_origin(request, state).startswith("https:")
