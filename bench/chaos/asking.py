"""A service that is asked what has become of something, with patience for it as a whole and for each thing."""

import time
from collections.abc import Callable
from typing import Any, Self
from uuid import uuid4

import httpx

#: Seconds for one attempt, and those in which a service that runs undisturbed answers at all.
_ATTEMPT_SECONDS = 60.0
_ANSWER_SECONDS = 180.0

_PAUSE = 0.2


class SilentServiceError(Exception):
    """A service does not answer, so nothing more can be judged by what it says."""


class Service:
    """A service.

    Args:
        url: where it is.
        patience: seconds from now in which all that it has accepted must end.
    """

    def __init__(self, url: str, patience: float) -> None:
        self._api = httpx.Client(base_url=url, timeout=_ATTEMPT_SECONDS)
        self._deadline = time.monotonic() + patience

    def __enter__(self) -> Self:
        """Use its connections until the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close them."""
        self._api.close()

    def get(self, path: str, **params: str | int) -> httpx.Response:
        """What it answers, though it may have to be asked again.

        Raises:
            SilentServiceError: it does not answer.
        """
        return self._answer(lambda: self._api.get(path, params=params))

    def post(self, path: str, body: dict[str, Any], headers: dict[str, str] | None = None) -> httpx.Response:
        """What it answers to something that is sent once, however often it has to be sent.

        Raises:
            SilentServiceError: it does not answer.
        """
        once = {"Idempotency-Key": uuid4().hex} | (headers or {})
        return self._answer(lambda: self._api.post(path, json=body, headers=once))

    def ended(
        self, path: str, is_over: Callable[[dict[str, Any]], bool], patience: float | None = None
    ) -> dict[str, Any] | None:
        """What has become of something; None if it is not there, or does not end.

        Everything is looked at, also after the deadline: only waiting has an end.

        Args:
            path: where it is.
            is_over: whether it has ended.
            patience: seconds for this alone, instead of those for everything.
        """
        deadline = self._deadline if patience is None else time.monotonic() + patience
        while (answer := self.get(path)).is_success:
            body: dict[str, Any] = answer.json()
            if is_over(body):
                return body
            if time.monotonic() > deadline:
                return None
            time.sleep(_PAUSE)
        return None

    def _answer(self, send: Callable[[], httpx.Response]) -> httpx.Response:
        deadline = time.monotonic() + _ANSWER_SECONDS
        said = ""
        while time.monotonic() < deadline:
            try:
                answer = send()
            except httpx.HTTPError as error:
                said = repr(error)
            else:
                if answer.status_code < 500 and answer.status_code != 429:
                    return answer
                said = f"{answer.status_code} {answer.text[:300]}"
            time.sleep(_PAUSE)
        raise SilentServiceError(f"the service has not answered for {_ANSWER_SECONDS:g} s: {said}")
