"""Sending requests to the service, again where that cannot make a change twice."""

import random
import time
from collections.abc import Iterator
from uuid import uuid4

import httpx

from aegis_sdk._answers import is_in_flight, is_passing, is_too_fast, refusal, warn_of_expiry
from aegis_sdk._errors import ServiceUnreachableError, UnexpectedAnswerError
from aegis_sdk._polling import Deadline, growing, pause_before_retry, retry_after

_IDEMPOTENCY_KEY = "Idempotency-Key"

#: Seconds before a request is sent again the first time, at most; each further pause is up to twice as long.
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 10.0

#: Seconds that are waited at most where `Retry-After` asks for more.
_LONGEST_ASKED = 30.0

#: Seconds for which a request that the service is carrying out already is asked for again, at least. An upload can be
#: checked for 120 s. If the process that carried it out died, the service begins anew after 15 s.
IN_FLIGHT_SECONDS = 120.0


class Sender:
    """Sends requests to the service at `url`.

    Args:
        http: sends them.
        url: of the service.
        timeout: seconds for each step of a request, and for all pauses before it is sent again together.
        retries: how often a request is sent again, at most.
    """

    def __init__(self, http: httpx.Client, url: str, timeout: float, retries: int) -> None:
        self._http, self._url, self._timeout, self._retries = http, url, timeout, retries

    def send(
        self,
        method: str,
        path: str,
        *,
        params: dict[str, str] | None = None,
        content: bytes | None = None,
        headers: dict[str, str] | None = None,
        timeout: float | None = None,
    ) -> httpx.Response:
        """Send a request and return the answer; raise an error if it is a refusal."""
        own = {"Content-Type": "application/json"} if content is not None else {}
        own |= {_IDEMPOTENCY_KEY: str(uuid4())} if method == "POST" else {}
        request = self._http.build_request(
            method,
            self._url + path,
            params=params,
            content=content,
            headers=own | (headers or {}),
            timeout=timeout or self._timeout,
        )
        response = self._exchange(request, _Retries(request, self._retries, timeout or self._timeout))
        warn_of_expiry(response)
        if not response.is_success:
            raise refusal(response)
        return response

    def _exchange(self, request: httpx.Request, retries: "_Retries") -> httpx.Response:
        """The answer to a request, which is sent again only if that cannot make a change twice."""
        while True:
            response = self._answer(request, retries)
            pause = retries.pause_after(response)
            if pause is None:
                return response
            time.sleep(pause)

    def _answer(self, request: httpx.Request, retries: "_Retries") -> httpx.Response:
        while True:
            try:
                return self._http.send(request)
            except httpx.DecodingError as error:
                raise UnexpectedAnswerError(f"The answer of {request.url} cannot be read: {error}") from None
            except httpx.HTTPError as error:
                pause = retries.pause_after_silence()
                if pause is None:
                    message = f"No answer from {self._url} (AEGIS_URL): {error}. Is it running?"
                    raise ServiceUnreachableError(message) from None
            time.sleep(pause)


class _Retries:
    """How often a request is sent again, and when.

    Args:
        request: the request.
        number: how often, at most.
        seconds: how long all pauses together are, at most. What the service says that it carries out already is asked
            for as long again, or for `IN_FLIGHT_SECONDS` if these are more.
    """

    def __init__(self, request: httpx.Request, number: int, seconds: float) -> None:
        self._is_repeatable = request.method == "GET" or _IDEMPOTENCY_KEY in request.headers
        self._left, self._seconds_left = number, seconds
        self._upper = _FIRST_PAUSE
        self._in_flight_seconds = max(seconds, IN_FLIGHT_SECONDS)
        self._in_flight: tuple[Deadline, Iterator[float]] | None = None

    def pause_after_silence(self) -> float | None:
        """Seconds after which to send the request again, now that there was no answer; None if that ends it."""
        return self._next_pause(None) if self._is_repeatable else None

    def pause_after(self, response: httpx.Response) -> float | None:
        """Seconds after which to send the request again; None if this is its answer."""
        if is_in_flight(response):
            return self._pause_in_flight(pause_before_retry(response))
        if is_too_fast(response) or (self._is_repeatable and is_passing(response)):
            return self._next_pause(retry_after(response))
        return None

    def _next_pause(self, asked: float | None) -> float | None:
        if self._left < 1 or self._seconds_left <= 0:
            return None
        self._left -= 1
        # A random share is left out, so that many that failed at once do not come back at once.
        own = self._upper * random.uniform(0.5, 1.0)  # noqa: S311 -- no secret
        self._upper = min(2 * self._upper, _LONGEST_PAUSE)
        pause = min(own if asked is None else asked, _LONGEST_ASKED, self._seconds_left)
        self._seconds_left -= pause
        return pause

    def _pause_in_flight(self, asked: float | None) -> float | None:
        # Time before the first such answer does not count: the first request may have used up its own.
        if self._in_flight is None:
            self._in_flight = Deadline(self._in_flight_seconds), growing(asked or 0.0)
        deadline, pauses = self._in_flight
        left = deadline.left()
        return min(max(next(pauses), asked or 0.0), left) if left else None
