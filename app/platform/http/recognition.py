"""Who sends a body slowly must still be known when it has arrived: a key that was revoked meanwhile does nothing."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request

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
