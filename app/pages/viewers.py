"""The viewers of pages: the cookies of their sessions, and the tokens of their forms.

A token proves that a form comes from a page of the same session (against cross-site request forgery).
"""

import base64
import hmac
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Final

from fastapi import Depends, Request, Response

from app.edge.state import State, StateDependency, services_of
from app.pages.origins import own_origin
from app.platform.callers import DEVELOPER, Caller, Session
from app.platform.errors import UnknownKeyError
from app.platform.http.rate_limit import take_turn
from app.platform.http.request_scope import note_known, refuse_other_name

#: The cookies of the console: the session, and the pending sign-in with the seconds to complete it at the issuer.
SESSION, SIGN_IN, SIGN_IN_SECONDS = "aegis_session", "aegis_sign_in", 600

#: Names that no other host and no page without TLS can set (RFC 6265bis) begin like this.
_SECURE = "__Host-"

_BYTES: Final = 32


def cookie(request: Request, state: State, name: str) -> str:
    """A cookie of the browser; empty if it sends none."""
    return request.cookies.get(_sent_name(request, state, name), "")


def set_cookie(
    answer: Response, request: Request, state: State, name: str, value: str, seconds: int | None = None
) -> None:
    """Set a cookie that scripts cannot read and that forms of other sites do not send.

    It is `Lax`, not `Strict`, for the way back from the issuer and for links to pages of the console.

    Args:
        seconds: how long the browser keeps it, by default until it is closed; 0 deletes it.
    """
    name = _sent_name(request, state, name)
    is_secure = name.startswith(_SECURE)
    answer.set_cookie(name, value, max_age=seconds, path="/", secure=is_secure, httponly=True, samesite="lax")


def _sent_name(request: Request, state: State, name: str) -> str:
    """The name of a cookie on the wire, which over HTTPS has the prefix."""
    return f"{_SECURE}{name}" if own_origin(request, state).startswith("https:") else name


def _secret(session_token: str) -> bytes:
    """The secret of a session's form tokens, from which neither its own token nor the stored hash can be derived."""
    return hmac.digest(session_token.encode(), b"aegis csrf", "sha256")


def _xor(one: bytes, other: bytes) -> bytes:
    """Exclusive or, up to the shorter length."""
    return bytes(left ^ right for left, right in zip(one, other, strict=False))


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
    def key_expires_at(self) -> datetime | None:
        """When the viewer's key expires, if that is soon."""
        key = None if self.session is None else self.session.key
        return key.expires_at if key is not None and key.expires_soon(datetime.now(UTC)) else None

    @property
    def csrf(self) -> str:
        """A token for the forms of one page: the session's secret, masked with a random pad, and the pad.

        It differs on every page, so that the length of compressed pages does not disclose it (BREACH). Empty in
        development mode.
        """
        if not self.token:
            return ""
        pad = secrets.token_bytes(_BYTES)
        return base64.urlsafe_b64encode(pad + _xor(pad, _secret(self.token))).decode().rstrip("=")

    def has_sent(self, csrf: str) -> bool:
        """Whether a form with this token comes from a page of this viewer, in constant time."""
        if self.is_developer:
            return True
        try:
            content = base64.b64decode(csrf + "=" * (-len(csrf) % 4), altchars=b"-_", validate=True)
        except ValueError:
            return False
        return hmac.compare_digest(_xor(content[:_BYTES], content[_BYTES:]), _secret(self.token))


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
    token = cookie(request, state, SESSION)
    async with state.database.transaction() as session:
        known = await services_of(state, session).sessions(state.session_rules).find(token)
    if known is None:
        raise UnknownKeyError("Sign in to see this page.")
    return Viewer(known.caller, token, known)


ViewerDependency = Annotated[Viewer, Depends(get_viewer)]
