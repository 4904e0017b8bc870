"""Data of a request that middlewares and routes share in its ASGI scope, and the recognition of its sender.

Routes return their own responses, which FastAPI's response parameter does not affect.
"""

import time
from collections.abc import Awaitable, Callable
from typing import Final

from starlette.requests import HTTPConnection, Request

from app.platform.errors import RoleNotAllowedError
from app.settings import LOOPBACK

ANSWER_HEADERS = "aegis.answer_headers"
REQUEST_ID = "aegis.request_id"


def answer_headers(request: HTTPConnection) -> list[tuple[str, str]]:
    """Additional headers of the response, also of a problem. Append to this list."""
    headers: list[tuple[str, str]] = request.scope.setdefault(ANSWER_HEADERS, [])
    return headers


def request_id(request: HTTPConnection) -> str | None:
    """The request's id; None outside the middleware that sets it."""
    return request.scope.get(REQUEST_ID)


def refuse_other_name(host: str) -> None:
    """Refuse a request without a key to a foreign host name, which a web page may have pointed here."""
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    if name.lower() not in LOOPBACK:
        raise RoleNotAllowedError(
            "This service has no keys and serves this machine only: use http://127.0.0.1 or http://localhost."
        )


#: Seconds in which a sender is not recognised again. Most bodies arrive within them.
RECENT: Final = 1.0


def note_known(request: Request, again: Callable[[], Awaitable[object]]) -> None:
    """Record that the sender is known now; `again` recognises it again or raises UnknownKeyError."""
    request.state.known = time.monotonic(), again


async def refuse_ended(request: Request) -> None:
    """Recognise the sender again after a slow upload, so that a revoked key has no effect.

    Raises:
        UnknownKeyError: its key or session has ended.
    """
    known: tuple[float, Callable[[], Awaitable[object]]] | None = getattr(request.state, "known", None)
    if known is not None:
        at, again = known
        if time.monotonic() - at > RECENT:
            await again()
