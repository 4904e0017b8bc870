"""Under which names a service without keys answers, and whether a sender is still known when its body has arrived."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request

from app.platform.errors import RoleNotAllowedError
from app.settings import LOOPBACK


def refuse_other_name(host: str) -> None:
    """Refuse a request without a key under a name that others own: a web page may have made it lead here."""
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    if name.lower() not in LOOPBACK:
        raise RoleNotAllowedError(
            "This service has no keys and answers this machine only: call it http://127.0.0.1 or http://localhost."
        )


#: Seconds for which nobody is recognised anew. Most bodies arrive within them.
RECENT: Final = 1.0


@dataclass(frozen=True, slots=True)
class _Known:
    at: float
    again: Callable[[], Awaitable[object]]


def note_known(request: Request, again: Callable[[], Awaitable[object]]) -> None:
    """Note that the sender is known now; `again` recognises it anew, and raises UnknownKeyError if it cannot."""
    request.state.known = _Known(time.monotonic(), again)


async def refuse_ended(request: Request) -> None:
    """Recognise the sender anew, unless that was done a moment ago.

    Raises:
        UnknownKeyError: its key or session has ended.
    """
    known: _Known | None = getattr(request.state, "known", None)
    if known is not None and time.monotonic() - known.at > RECENT:
        await known.again()
