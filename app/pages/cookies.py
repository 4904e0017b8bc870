"""The cookies of the console: the session and the pending sign-in."""

from fastapi import Request, Response

from app.edge.state import State
from app.pages.origins import own_origin

#: Seconds to complete a sign-in at the issuer.
SIGN_IN_SECONDS = 600

_SESSION, _SIGN_IN = "aegis_session", "aegis_sign_in"


def session_token(request: Request, state: State) -> str:
    """The token of the browser's session; empty if it sends none."""
    return request.cookies.get(_name(_SESSION, request, state), "")


def pending_sign_in(request: Request, state: State) -> str:
    """The pending sign-in of the browser; empty if it sends none."""
    return request.cookies.get(_name(_SIGN_IN, request, state), "")


def keep_session(answer: Response, request: Request, state: State, token: str) -> None:
    """Set the session cookie, until the browser is closed."""
    _set(answer, request, state, _SESSION, token)


def keep_sign_in(answer: Response, request: Request, state: State, pending: str) -> None:
    """Set the cookie of a pending sign-in for some minutes."""
    _set(answer, request, state, _SIGN_IN, pending, SIGN_IN_SECONDS)


def forget_session(answer: Response, request: Request, state: State) -> None:
    """Delete the session cookie."""
    _set(answer, request, state, _SESSION, "", 0)


def forget_sign_in(answer: Response, request: Request, state: State) -> None:
    """Delete the cookie of the pending sign-in."""
    _set(answer, request, state, _SIGN_IN, "", 0)


def _set(answer: Response, request: Request, state: State, name: str, value: str, seconds: int | None = None) -> None:
    """Set a cookie that scripts cannot read and that forms of other sites do not send.

    It is `Lax`, not `Strict`, for the way back from the issuer and for links to pages of the console.
    """
    is_secure = _is_secure(request, state)
    named = _name(name, request, state)
    answer.set_cookie(named, value, max_age=seconds, path="/", secure=is_secure, httponly=True, samesite="lax")


def _name(name: str, request: Request, state: State) -> str:
    """The cookie's name: over HTTPS with a prefix that no other host and no page without TLS can set (RFC 6265bis)."""
    return f"__Host-{name}" if _is_secure(request, state) else name


def _is_secure(request: Request, state: State) -> bool:
    return own_origin(request, state).startswith("https:")
