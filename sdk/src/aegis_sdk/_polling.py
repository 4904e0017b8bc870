"""Polling an advice: the pauses, and when to stop."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

import httpx

from aegis_sdk._errors import AdviceFailedError, AdviceTimeoutError
from aegis_sdk._flows import Flow, Pause
from aegis_sdk.wire import AdviceHead

AdviceT = TypeVar("AdviceT", bound=AdviceHead)

SUCCEEDED = "succeeded"
FAILED = "failed"

_SHORTEST_PAUSE = 0.02
_LONGEST_PAUSE = 5.0
_PAUSE_WITHOUT_HINT = 0.5


def pause_before_retry(response: httpx.Response) -> float | None:
    """Seconds that the service asks to wait (`Retry-After`), at most 5; None without that header."""
    asked = retry_after(response)
    return None if asked is None else min(asked, _LONGEST_PAUSE)


def retry_after(response: httpx.Response) -> float | None:
    """Seconds in `Retry-After` (RFC 9110, section 10.2.3), unlimited; None without that header."""
    said = response.headers.get("Retry-After", "")
    if said.isascii() and said.isdigit():
        return float(said)
    until = _moment(said)
    if until is None:
        return None
    # Relative to the server's own clock if the response has its time, since clocks differ.
    now = _moment(response.headers.get("Date", "")) or datetime.now(UTC)
    return max(0.0, (until - now).total_seconds())


def _moment(text: str) -> datetime | None:
    """The time of an HTTP date; None if it is not one."""
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def growing(pause: float) -> Iterator[float]:
    """Endless pauses in seconds: each is 1.5 times the previous one, at most 5 s."""
    pause = max(pause, _SHORTEST_PAUSE)
    while True:
        yield pause
        pause = min(pause * 1.5, _LONGEST_PAUSE)


@dataclass(frozen=True, slots=True)
class Deadline:
    """The time `seconds` after the creation of the instance."""

    seconds: float
    _start: float = field(default_factory=time.monotonic)

    def left(self) -> float:
        """Seconds left, 0 after the deadline."""
        return max(0.0, self._start + self.seconds - time.monotonic())


def follow(
    advice: AdviceT,
    look: Callable[[], Flow[AdviceT]],
    *,
    pause: float | None,
    deadline: Deadline,
    on_progress: Callable[[AdviceT], None] | None,
) -> Flow[AdviceT]:
    """Poll until the advice has succeeded. Each pause is 1.5 times the previous one, at most 5 s.

    Raises:
        AdviceFailedError: The advice failed.
        AdviceTimeoutError: The deadline passed before the advice was finished.
    """
    pauses = growing(_PAUSE_WITHOUT_HINT if pause is None else pause)
    while advice.status != SUCCEEDED:
        if advice.status == FAILED:
            raise AdviceFailedError(advice)
        if on_progress is not None:
            on_progress(advice)
        if not deadline.left():
            raise AdviceTimeoutError(advice.id, deadline.seconds)
        yield Pause(min(next(pauses), deadline.left()))
        advice = yield from look()
    return advice
