"""Sending to the service: the checked address, repetition where it changes nothing twice, and polling of an advice."""

import random
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar
from uuid import uuid4

import httpx

from aegis_sdk._answers import code_of, refusal, warn_of_expiry
from aegis_sdk._errors import (
    AdviceFailedError,
    AdviceTimeoutError,
    ServiceUnreachableError,
    SettingsError,
    UnexpectedAnswerError,
)
from aegis_sdk._flows import Call, Flow, Pause
from aegis_sdk.wire import AdviceHead

DEFAULT_URL = "http://127.0.0.1:8000"


def checked_url(url: str) -> str:
    """The validated address, without a trailing slash."""
    try:
        parsed = httpx.URL(url.strip())
    except httpx.InvalidURL as error:
        raise SettingsError(f"The address of the service (AEGIS_URL) is invalid: {error}") from None
    if parsed.scheme not in ("http", "https") or not parsed.host or parsed.userinfo:
        raise SettingsError(f"The address of the service (AEGIS_URL) must look like {DEFAULT_URL}, without a user")
    return str(parsed).rstrip("/")


def checked_key(key: str) -> str:
    """The key, if it is a valid header value: errors of lower layers would show an invalid one."""
    key = key.strip()
    if key and not re.fullmatch(r"[!-~]+", key):
        raise SettingsError("The API key (AEGIS_API_KEY) contains invalid characters")
    return key


AdviceT = TypeVar("AdviceT", bound=AdviceHead)

SUCCEEDED = "succeeded"
FAILED = "failed"

_SHORTEST_POLL = 0.02
_LONGEST_POLL = 5.0
_PAUSE_WITHOUT_HINT = 0.5


def pause_before_retry(response: httpx.Response) -> float | None:
    """Seconds that the service asks to wait (`Retry-After`), at most 5; None without that header."""
    asked = retry_after(response)
    return None if asked is None else min(asked, _LONGEST_POLL)


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
    pause = max(pause, _SHORTEST_POLL)
    while True:
        yield pause
        pause = min(pause * 1.5, _LONGEST_POLL)


@dataclass(frozen=True, slots=True)
class TimeLimit:
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
    deadline: TimeLimit,
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


_IDEMPOTENCY_KEY = "Idempotency-Key"

#: The longest pause in seconds before the first retry; each further pause is up to twice as long.
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 10.0

#: The longest pause in seconds, whatever `Retry-After` says.
_LONGEST_ASKED = 30.0

#: Statuses that pass by themselves: the service, or a proxy before it, is busy or restarting.
_PASSING = (
    httpx.codes.TOO_MANY_REQUESTS,
    httpx.codes.BAD_GATEWAY,
    httpx.codes.SERVICE_UNAVAILABLE,
    httpx.codes.GATEWAY_TIMEOUT,
)
#: The only 429 with a code that is soon over: the service did nothing. Others last for hours, or until they are mended.
_TOO_FAST = "rate_exceeded"

#: Seconds of retries, at least, while the service is processing the same request. An upload can take 120 s to check. If
#: the process that did so died, the service starts again after 15 s.
IN_FLIGHT_SECONDS = 120.0


class Sender:
    """Sends requests to the service at `url`.

    Args:
        url: of the service.
        timeout: seconds for each step of a request, and for all pauses before retries together.
        retries: the largest number of retries.
    """

    def __init__(self, url: str, timeout: float, retries: int) -> None:
        self._url, self._timeout, self._retries = url, timeout, retries

    def send(
        self,
        method: str,
        path: str,
        *,
        params: dict[str, str] | None = None,
        content: bytes | None = None,
        headers: dict[str, str] | None = None,
        longer: float = 0.0,
    ) -> Flow[httpx.Response]:
        """Send a request and return the response; raise an error if it is a refusal.

        Each step may take `longer` seconds more than the timeout.
        """
        own = {"Content-Type": "application/json"} if content is not None else {}
        own |= {_IDEMPOTENCY_KEY: str(uuid4())} if method == "POST" else {}
        seconds = self._timeout + longer
        call = Call(method, self._url + path, params, content, own | (headers or {}), seconds)
        retries = _Retries(call, self._retries)
        response = yield from self._answer(call, retries)
        while (pause := retries.pause_after(response)) is not None:
            yield Pause(pause)
            response = yield from self._answer(call, retries)
        warn_of_expiry(response)
        if not response.is_success:
            raise refusal(response)
        return response

    def _answer(self, call: Call, retries: "_Retries") -> Flow[httpx.Response]:
        while True:
            try:
                return (yield call)  # type: ignore[no-any-return]  # as `Call` says
            except httpx.DecodingError as error:
                raise UnexpectedAnswerError(f"The response of {call.url} cannot be read: {error}") from None
            except httpx.HTTPError as error:
                pause = retries.next_pause(None) if retries.is_repeatable else None
                if pause is None:
                    message = f"No response from {self._url} (AEGIS_URL): {error}. Is it running?"
                    raise ServiceUnreachableError(message) from None
            yield Pause(pause)


class _Retries:
    """The retries of a request.

    Args:
        call: the request. Its timeout limits the sum of all pauses. While the service is processing the same request,
            retries go on for the same time again, or for `IN_FLIGHT_SECONDS` if that is longer.
        number: the largest number of retries.
    """

    def __init__(self, call: Call, number: int) -> None:
        # Such a request can be repeated without making a change twice.
        self.is_repeatable = call.method == "GET" or _IDEMPOTENCY_KEY in call.headers
        self._left, self._seconds_left = number, call.timeout
        self._upper = _FIRST_PAUSE
        self._in_flight_seconds = max(call.timeout, IN_FLIGHT_SECONDS)
        self._in_flight: tuple[TimeLimit, Iterator[float]] | None = None

    def pause_after(self, response: httpx.Response) -> float | None:
        """Seconds before the next retry after this response; None if it is final."""
        status, code = response.status_code, code_of(response)
        if status == httpx.codes.CONFLICT and code == "in_flight":
            asked = pause_before_retry(response) or 0.0
            # Counted from the first such response: the first attempt may have used up its own time.
            if self._in_flight is None:
                self._in_flight = TimeLimit(self._in_flight_seconds), growing(asked)
            deadline, pauses = self._in_flight
            left = deadline.left()
            return min(max(next(pauses), asked), left) if left else None
        is_too_fast = status == httpx.codes.TOO_MANY_REQUESTS and code == _TOO_FAST
        is_passing = status in _PASSING and (status != httpx.codes.TOO_MANY_REQUESTS or not code)
        return self.next_pause(retry_after(response)) if is_too_fast or (self.is_repeatable and is_passing) else None

    def next_pause(self, asked: float | None) -> float | None:
        """Seconds before the next retry, if possible those that the service asks for; None to give up."""
        if self._left < 1 or self._seconds_left <= 0:
            return None
        self._left -= 1
        # The pause is shortened at random, so that many clients that failed at once do not return at once.
        own = self._upper * random.uniform(0.5, 1.0)  # noqa: S311 -- no secret
        self._upper = min(2 * self._upper, _LONGEST_PAUSE)
        pause = min(own if asked is None else asked, _LONGEST_ASKED, self._seconds_left)
        self._seconds_left -= pause
        return pause
