"""Sending requests to the service, again where that cannot make a change twice."""

import time
from uuid import uuid4

import httpx

from aegis_sdk._answers import is_in_flight, is_soon_over, problem_error, warn_of_expiry
from aegis_sdk._errors import ServiceUnreachableError
from aegis_sdk._polling import Deadline, pause_before_retry

_RETRIES = 2
_IDEMPOTENCY_KEY = "Idempotency-Key"


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
        response = self._exchange(request, retries=_RETRIES, deadline=Deadline(timeout or self._timeout))
        warn_of_expiry(response)
        if not response.is_success:
            raise problem_error(response)
        return response

    def _exchange(self, request: httpx.Request, *, retries: int, deadline: Deadline) -> httpx.Response:
        """The answer to a request, which is sent again only if that cannot make a change twice (until the deadline)."""
        try:
            response = self._http.send(request)
        except httpx.HTTPError as error:
            if retries and (request.method == "GET" or _IDEMPOTENCY_KEY in request.headers):
                return self._exchange(request, retries=retries - 1, deadline=deadline)
            raise ServiceUnreachableError(f"No answer from {self._url} (AEGIS_URL): {error}. Is it running?") from None
        pause, in_flight = pause_before_retry(response) if is_soon_over(response) else None, is_in_flight(response)
        if pause is None or not (deadline.left() if in_flight else retries):
            return response
        time.sleep(pause)
        return self._exchange(request, retries=retries - (not in_flight), deadline=deadline)
