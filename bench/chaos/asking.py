"""A client that asks a service for outcomes, with one deadline for everything and one per item."""

import time
from collections.abc import Callable
from typing import Any, Self
from uuid import uuid4

import httpx

#: Seconds for one attempt, and those in which an undisturbed service responds at all.
_ATTEMPT_SECONDS = 60.0
_ANSWER_SECONDS = 180.0

_PAUSE = 0.2


class SilentServiceError(Exception):
    """A service does not respond, so it cannot be judged any further."""


class Service:
    """A service.

    Args:
        url: its address.
        patience: seconds from now in which everything it has accepted must end.
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
        """The response to a GET, repeated if necessary.

        Raises:
            SilentServiceError: the service does not respond.
        """
        return self._answer(lambda: self._api.get(path, params=params))

    def post(self, path: str, body: dict[str, Any], headers: dict[str, str] | None = None) -> httpx.Response:
        """The response to a POST with an idempotency key, repeated if necessary.

        Raises:
            SilentServiceError: the service does not respond.
        """
        once = {"Idempotency-Key": uuid4().hex} | (headers or {})
        return self._answer(lambda: self._api.post(path, json=body, headers=once))

    def ended(
        self, path: str, is_over: Callable[[dict[str, Any]], bool], patience: float | None = None
    ) -> dict[str, Any] | None:
        """The final state of something; None if it does not exist or does not end.

        Everything is requested at least once, also after the deadline, which only limits waiting.

        Args:
            path: its path.
            is_over: whether its state is final.
            patience: seconds for this item alone, in place of the common deadline.
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
