"""A steady mix of publications, questions and data requests, and a record of what the service acknowledged."""

import threading
import time
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from random import Random
from typing import Any
from uuid import uuid4

import httpx

from aegis_sdk.wire import EXAMPLE_ENTRY
from tests.made_up_entries import MEASURES

_ACCEPTED = {"accept_small_counts": "true"}

#: Seconds until the service must have acknowledged something of each kind.
PATIENCE = 120.0

#: Codes of refusals that ask the client to send the same request again.
_LATER = {"in_flight", "rate_exceeded"}

#: Seconds between two steps of a client.
_PAUSE = 0.15

#: The beginning of the purpose of all data requests of this run.
PURPOSE = "A study "

#: The row for everything acknowledged before the first fault.
BEFORE = "(before the first)"

#: Seconds in which a client ends.
_END_SECONDS = 120.0

#: Requests that stay open; older ones are withdrawn, since a tenant may have no more than 1,000.
_OPEN = 100


@dataclass
class Notes:
    """What was acknowledged.

    Attributes:
        entries: published documents by id, with the digest in the response.
        advice: the ids in the responses, by entry and measure.
        requests: the ids in the responses, by purpose.
        about: entry and measure of the request, by purpose.
        withdrawn: whether the withdrawal was acknowledged, by purpose.
        fault: the last fault that hit something.
        after: the last fault before the acknowledgement, by id.
    """

    entries: dict[str, tuple[dict[str, Any], str]] = field(default_factory=dict)
    advice: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    requests: dict[str, set[str]] = field(default_factory=dict)
    about: dict[str, tuple[str, str]] = field(default_factory=dict)
    withdrawn: dict[str, bool] = field(default_factory=dict)
    fault: str = BEFORE
    after: dict[str, str] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def published(self, document: dict[str, Any], head: dict[str, Any]) -> None:
        """Note an entry."""
        with self._lock:
            self.entries[head["id"]] = document, head["digest"]
            self.after[head["id"]] = self.fault

    def asked(self, entry: str, measure: str, advice: str) -> None:
        """Note a question."""
        with self._lock:
            self.advice.setdefault((entry, measure), set()).add(advice)
            self.after.setdefault(advice, self.fault)

    def requested(self, purpose: str, about: tuple[str, str], request: str) -> None:
        """Note a request for data about an entry and a measure."""
        with self._lock:
            self.about[purpose] = about
            self.requests.setdefault(purpose, set()).add(request)
            self.after.setdefault(request, self.fault)

    def to_withdraw(self) -> tuple[str, str] | None:
        """The purpose and id of the oldest open request, if enough others are open."""
        with self._lock:
            if len(self.requests) - len(self.withdrawn) <= _OPEN:
                return None
            purpose = next(one for one in self.requests if one not in self.withdrawn)
            self.withdrawn[purpose] = False
            return purpose, min(self.requests[purpose])

    def wait_for_each_kind(self) -> None:
        """Wait until something of each kind was acknowledged."""
        deadline = time.monotonic() + PATIENCE
        while not (self.entries and self.advice and self.requests):
            if time.monotonic() > deadline:
                raise TimeoutError("the service acknowledges nothing")
            time.sleep(_PAUSE)

    def wait_for_more(self) -> None:
        """Wait until something more is acknowledged."""
        deadline, before = time.monotonic() + PATIENCE, len(self.after)
        while len(self.after) == before:
            if time.monotonic() > deadline:
                raise TimeoutError("the service acknowledges nothing any more")
            time.sleep(_PAUSE)

    def known(self) -> list[str]:
        """The entries so far."""
        with self._lock:
            return list(self.entries)


class Client(threading.Thread):
    """A client that publishes, asks and requests until it must stop, and repeats what was not acknowledged.

    Attributes:
        over: set to stop the client.
        refused: unjustified refusals.
        failed: errors in the client itself or in a response.
    """

    def __init__(self, urls: tuple[str, ...], notes: Notes, seed: int) -> None:
        super().__init__(daemon=True)
        self._urls, self._notes, self._rng = urls, notes, Random(seed)
        self.over = threading.Event()
        self.refused: list[str] = []
        self.failed: list[str] = []

    def run(self) -> None:
        """Take one step after the other."""
        with httpx.Client(timeout=30) as client:
            self._client = client
            while not self.over.is_set():
                try:
                    self._step()
                except Exception as error:  # noqa: BLE001 - a client must not end unnoticed
                    self.failed.append(f"client: {error!r}")
                time.sleep(_PAUSE)

    def end(self) -> None:
        """Stop, and wait for the end of the last step."""
        self.over.set()
        self.join(_END_SECONDS)
        if self.is_alive():
            self.failed.append(f"client: does not end within {_END_SECONDS:g} s")

    def _step(self) -> None:
        known = self._notes.known()
        step = self._rng.choices((self._publish, self._ask, self._request), (1, 4, 2))[0]
        (step if known else self._publish)()

    def _publish(self) -> None:
        document = made_up(self._rng)
        answer = self._send("/v1/entries", document, _ACCEPTED)
        if answer is not None:
            self._notes.published(document, answer)

    def _ask(self) -> None:
        entry, measure = self._rng.choice(self._notes.known()[-30:]), self._rng.choice(MEASURES)
        answer = self._send(f"/v1/entries/{entry}/advice", {"measure": measure})
        if answer is not None:
            self._notes.asked(entry, measure, answer["id"])

    def _request(self) -> None:
        entry = self._rng.choice(self._notes.known()[-30:])
        head = self._get(f"/v1/entries/{entry}")
        if head is None:
            return
        purpose, measure = f"{PURPOSE}{uuid4().hex}", self._rng.choice(MEASURES)
        asked = {"measure": measure, "purpose": purpose, "contact": "lab@example.org"}
        answer = self._send(f"/v1/entries/{entry}/requests", asked | {"terms": head["terms"]})
        if answer is not None:
            self._notes.requested(purpose, (entry, measure), answer["id"])
        self._withdraw()

    def _withdraw(self) -> None:
        """Withdraw a request, once, even without a response."""
        oldest = self._notes.to_withdraw()
        if oldest is None:
            return
        purpose, request = oldest
        with suppress(httpx.HTTPError):
            path = f"{self._rng.choice(self._urls)}/v1/requests/{request}/actions"
            answer = self._client.post(path, json={"action": "withdraw"})
            self._notes.withdrawn[purpose] = answer.is_success

    def _send(self, path: str, body: dict[str, Any], params: dict[str, str] | None = None) -> dict[str, Any] | None:
        """Send until it is acknowledged, under one key, to either replica."""
        once = {"Idempotency-Key": uuid4().hex}
        while not self.over.is_set():
            try:
                url = f"{self._rng.choice(self._urls)}{path}"
                answer = self._client.post(url, json=body, headers=once, params=params or {})
            except httpx.HTTPError:
                time.sleep(_PAUSE)
                continue
            if answer.is_success:
                acknowledged: dict[str, Any] = answer.json()
                return acknowledged
            if answer.status_code < 500 and _code(answer) not in _LATER:
                self.refused.append(f"{path}: {answer.status_code} {answer.text[:300]}")
                return None
            time.sleep(_PAUSE)
        return None

    def _get(self, path: str) -> dict[str, Any] | None:
        try:
            answer = self._client.get(f"{self._rng.choice(self._urls)}{path}")
        except httpx.HTTPError:
            return None
        return answer.json() if answer.is_success else None


def _code(answer: httpx.Response) -> str | None:
    """The code of a refusal; None if it has none."""
    try:
        body = answer.json()
    except ValueError:
        return None
    return body.get("code") if isinstance(body, dict) else None


def made_up(rng: Random) -> dict[str, Any]:
    """A unique entry: the example with its counts times a random number."""
    factor = rng.randrange(100, 1_000_000)
    entry = deepcopy(dict(EXAMPLE_ENTRY)) | {"name": f"entry-{uuid4().hex}"}
    entry["records"] *= factor
    for owner in (entry["label"], *entry["attributes"]):
        owner["histogram"] = [factor * count for count in owner["histogram"]]
        for masking in owner.get("maskings", ()):
            masking["joint"] = [[factor * count for count in row] for row in masking["joint"]]
    return entry
