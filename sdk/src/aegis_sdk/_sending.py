"""Sending requests to the service, again where that cannot make a change twice."""

import time
from collections.abc import Iterator
from uuid import uuid4

import httpx

from aegis_sdk._answers import is_in_flight, is_soon_over, refusal, warn_of_expiry
from aegis_sdk._errors import ServiceUnreachableError, UnexpectedAnswerError
from aegis_sdk._polling import Deadline, growing, pause_before_retry

_RETRIES = 2
_IDEMPOTENCY_KEY = "Idempotency-Key"

#: Seconds for which a request that the service is carrying out already is asked for again, at least. An upload can be
#: checked for 120 s. If the process that carried it out died, the service begins anew after 15 s.
IN_FLIGHT_SECONDS = 120.0


class Sender:
    """Sends requests to the service at `url`. `timeout` is in seconds, for each step of a request."""

    def __init__(self, http: httpx.Client, url: str, timeout: float) -> None:
        self._http, self._url, self._timeout = http, url, timeout

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
        response = self._exchange(request, _Retries(request, max(timeout or self._timeout, IN_FLIGHT_SECONDS)))
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
                if not retries.may_follow_silence():
                    message = f"No answer from {self._url} (AEGIS_URL): {error}. Is it running?"
                    raise ServiceUnreachableError(message) from None


class _Retries:
    """How often a request is sent again, and when.

    Args:
        request: the request.
        in_flight_seconds: how long its answer is asked for once the service says that it carries it out already.
    """

    def __init__(self, request: httpx.Request, in_flight_seconds: float) -> None:
        self._is_repeatable = request.method == "GET" or _IDEMPOTENCY_KEY in request.headers
        self._left = _RETRIES
        self._in_flight_seconds = in_flight_seconds
        self._in_flight: tuple[Deadline, Iterator[float]] | None = None

    def may_follow_silence(self) -> bool:
        """Whether to send the request again, now that there was no answer."""
        return self._is_repeatable and self._take()

    def pause_after(self, response: httpx.Response) -> float | None:
        """Seconds after which to send the request again; None if this is its answer."""
        pause = pause_before_retry(response) if is_soon_over(response) else None
        if pause is None:
            return None
        if is_in_flight(response):
            return self._pause_in_flight(pause)
        return pause if self._take() else None

    def _take(self) -> bool:
        self._left -= 1
        return self._left >= 0

    def _pause_in_flight(self, asked: float) -> float | None:
        # Time before the first such answer does not count: the first request may have used up its own.
        if self._in_flight is None:
            self._in_flight = Deadline(self._in_flight_seconds), growing(asked)
        deadline, pauses = self._in_flight
        left = deadline.left()
        return min(max(next(pauses), asked), left) if left else None
