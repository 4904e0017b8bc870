"""Signing in with a key or at the issuer, and signing out."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http.client import UNAUTHORIZED
from typing import Annotated
from urllib.parse import urlencode

import structlog
from fastapi import APIRouter, Query, Request, Response

from app.callers.identity.code_flow import Answer, CodeFlow, draw_pending, path_of
from app.callers.service import SessionService
from app.edge.state import State, StateDependency, services_of
from app.pages.commands import Commands, aegis, curl
from app.pages.forms import FormDependency, read_form
from app.pages.origins import is_private, own_origin, own_path
from app.pages.page import page, see
from app.pages.page_route import PageRoute
from app.pages.viewers import SESSION, SIGN_IN, SIGN_IN_SECONDS, Viewer, ViewerDependency, cookie, set_cookie
from app.platform.callers import Session
from app.platform.errors import NotFoundError, RefusalError, RoleNotAllowedError, UnknownKeyError, WaitError
from app.platform.http.rate_limit import take_turn
from app.platform.http.refusals import status_and_title

_log = structlog.get_logger(__name__)

#: Errors that a person can correct on the sign-in page.
_SHOWN = (UnknownKeyError, RoleNotAllowedError, WaitError)

router = APIRouter(route_class=PageRoute)

Next = Annotated[str, Query(alias="next")]


@dataclass(frozen=True, slots=True)
class SignInView:
    """The sign-in page.

    Attributes:
        origin: the origin in the browser's address.
        is_private: whether nobody can read what the browser sends; if not, signing in is refused.
        issuer_link: the address that leads to the issuer of tokens; empty if there is none.
        is_unsent: whether a form was sent after its session had ended.
    """

    path: str
    origin: str
    is_private: bool
    issuer_link: str
    refusal: str | None = None
    is_unsent: bool = False


def session_commands(viewer: Viewer | None) -> Commands:
    """The commands that use a key: a terminal needs no session, since every command sends its key."""
    return Commands((aegis("entries", "list"), "unset AEGIS_API_KEY"), (curl(viewer, "/v1/quota"),))


@router.get("/sign-in")
async def show_sign_in(request: Request, state: StateDependency, path: Next = "/", unsent: str = "") -> Response:
    """The sign-in form and the link to the issuer; development mode needs neither.

    `unsent` is set if a form led here because its session had ended.
    """
    return see(own_path(path)) if state.development_mode else _form(request, state, path, is_unsent=bool(unsent))


@router.post("/sign-in")
async def sign_in(request: Request, state: StateDependency) -> Response:
    """Begin a session with a key."""
    form = await read_form(request)
    key, path = form.text("key"), form.text("next")
    try:
        _refuse_open_way(request, state)
        with state.limits.guess(request, key):
            return await _begin(request, state, path, lambda sessions: sessions.begin_by_key(key))
    except _SHOWN as error:
        return _form(request, state, path, error)


@router.get("/sign-in/oidc")
async def go_to_issuer(request: Request, state: StateDependency, path: Next = "/") -> Response:
    """Send the browser to the issuer."""
    flow = _code_flow(state)
    _refuse_open_way(request, state)
    pending = draw_pending(own_path(path))
    answer = see(await flow.address(pending))
    set_cookie(answer, request, state, SIGN_IN, pending, SIGN_IN_SECONDS)
    return answer


@router.get("/sign-in/callback")
async def come_from_issuer(
    request: Request,
    state: StateDependency,
    issuer_state: Annotated[str, Query(alias="state", max_length=255)] = "",
    code: Annotated[str | None, Query(max_length=8192)] = None,
    error: Annotated[str | None, Query(max_length=255)] = None,
    iss: Annotated[str | None, Query(max_length=2048)] = None,
) -> Response:
    """Begin a session for the person who signed in at the issuer."""
    flow, pending = _code_flow(state), cookie(request, state, SIGN_IN)
    path = path_of(pending)
    try:
        # Only expected responses count as guesses: otherwise another page could get this address locked out.
        expected = flow.code(pending, Answer(issuer_state, code, error, iss))
        with state.limits.guess(request, expected):
            holder = await flow.holder(pending, expected)
        answer = await _begin(
            request, state, path, lambda sessions: sessions.begin_by_token(holder.caller, holder.expires_at)
        )
    except _SHOWN as refusal:
        answer = _form(request, state, path, refusal)
    set_cookie(answer, request, state, SIGN_IN, "", 0)
    return answer


@router.get("/session")
async def show_session(request: Request, viewer: ViewerDependency) -> Response:
    """Who is signed in, until when, and the forms to sign out."""
    return page(request, "session.html", commands=session_commands(viewer))


@router.post("/sign-out")
async def sign_out(
    request: Request, state: StateDependency, viewer: ViewerDependency, form: FormDependency
) -> Response:
    """End the viewer's session, or all of its sessions."""
    async with state.database.transaction() as session:
        sessions = services_of(state, session).sessions(state.session_rules)
        await (sessions.end_all if form.has("everywhere") else sessions.end)(viewer.token)
    _log.info("signed out", by=viewer.caller.subject)
    answer = see("/sign-in")
    set_cookie(answer, request, state, SESSION, "", 0)
    return answer


async def _begin(
    request: Request,
    state: State,
    path: str,
    begin: Callable[[SessionService], Awaitable[tuple[str, Session]]],
) -> Response:
    """Replace the browser's session by a new one, and open the requested page."""
    async with state.database.transaction() as session:
        sessions = services_of(state, session).sessions(state.session_rules)
        token, begun = await begin(sessions)
        await sessions.end(cookie(request, state, SESSION))
        if state.limits.requests is not None:
            take_turn(request, state.limits.requests, begun.caller.tenant)
    _log.info("signed in", by=begun.caller.subject)
    answer = see(own_path(path))
    set_cookie(answer, request, state, SESSION, token)
    return answer


def _form(
    request: Request, state: State, path: str, error: RefusalError | None = None, *, is_unsent: bool = False
) -> Response:
    """The sign-in page, with the reason of the last failure."""
    form = SignInView(
        own_path(path),
        own_origin(request, state),
        is_private(request, state),
        "" if state.code_flow is None else f"/sign-in/oidc?{urlencode({'next': own_path(path)})}",
        None if error is None else error.detail,
        is_unsent,
    )
    if error is None:
        return page(request, "sign_in.html", form=form, commands=session_commands(None))
    request.app.state.metrics.refused(error.code)
    status, _ = status_and_title(error)
    answer = page(request, "sign_in.html", status, form=form, commands=session_commands(None))
    if status == UNAUTHORIZED:
        answer.headers["WWW-Authenticate"] = "Bearer"  # which browsers do not ask for
    if isinstance(error, WaitError):
        answer.headers["Retry-After"] = str(error.seconds)
    return answer


def _refuse_open_way(request: Request, state: State) -> None:
    if not is_private(request, state):
        raise RoleNotAllowedError("Signing in needs TLS, except in a browser on the service's own machine.")


def _code_flow(state: State) -> CodeFlow:
    if state.code_flow is None:
        raise NotFoundError("This service has no issuer for signing in: use an API key.")
    return state.code_flow
