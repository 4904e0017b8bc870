"""Data requests: a consumer asks for a masked table, its provider decides."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

import httpx

from aegis_sdk._answers import read_answer, read_nothing
from aegis_sdk._errors import AegisError
from aegis_sdk._pages import pages
from aegis_sdk._polling import Deadline
from aegis_sdk._requests import entry_path, json_bytes, version_params, without_none
from aegis_sdk.wire import (
    Approval,
    DataRequest,
    DataRequestHead,
    DataRequestPage,
    DeliveryDescriptor,
    DeliveryVerdict,
    Evidence,
    GrantLimit,
    Lease,
    LeaseRequest,
    Link,
    Receipt,
)

_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0
_WAITS = "requested"


class DataRequests:
    """Data requests of the caller's tenant and for its entries; an operator has all. `Client.requests` is one.

    A step that is not possible in the present state raises `ConflictError`, and says what is.
    """

    def __init__(self, send: Callable[..., httpx.Response]) -> None:
        self._send = send

    def create(
        self,
        entry_id: str,
        measure: str,
        *,
        purpose: str,
        contact: str,
        terms: str,
        version: int | None = None,
        attributes: Sequence[str] | None = None,
        weights: Mapping[str, float] | None = None,
        require: Mapping[str, float] | None = None,
        kinds: Sequence[str] | None = None,
        wait: float = 0.0,
    ) -> DataRequest:
        """Request the masked table of the configuration that loses the least of what is needed.

        Args:
            entry_id: The entry.
            measure: By what utility is measured; `attributes`, `weights`, `require` and `kinds` are as in
                `Client.advise`.
            purpose: What the data is for.
            contact: Whom the provider can ask.
            terms: Accepts the entry's terms: the digest that its head has as `terms`.
            wait: Seconds to wait for the advice. Without it, or if it takes longer, the state is `requested`.
        """
        asked: dict[str, Any] = {
            "measure": measure,
            "attributes": None if attributes is None else list(attributes),
            "weights": None if weights is None else dict(weights),
            "require": None if require is None else dict(require),
            "purpose": purpose,
            "contact": contact,
            "terms": terms,
            **({} if kinds is None else {"kinds": list(kinds)}),
        }
        path = entry_path(entry_id, "requests")
        answer = self._send("POST", path, content=json_bytes(asked), params=version_params(version))
        return self._advised(read_answer(DataRequest, answer), Deadline(wait))

    def _advised(self, request: DataRequest, deadline: Deadline) -> DataRequest:
        """The request once it is advised, or as it was last seen: it is made, whatever becomes of looking at it."""
        pause = _SHORTEST_PAUSE
        while request.state == _WAITS and deadline.left():
            time.sleep(min(pause, deadline.left()))
            pause = min(1.5 * pause, _LONGEST_PAUSE)
            try:
                request = self.get(request.id)
            except AegisError:
                return request
        return request

    def list(
        self, state: str | None = None, entry_id: str | None = None, side: str | None = None
    ) -> Iterator[DataRequestHead]:
        """The requests that the caller may see, newest first.

        Args:
            state: Only those in this state.
            entry_id: Only those for this entry.
            side: Only those that the caller's tenant has made (`consumer`) or was made (`provider`).
        """
        wanted = {"state": state, "entry": entry_id, "side": side}
        for page in pages(self._send, DataRequestPage, "/v1/requests", wanted):
            yield from page.items

    def get(self, request_id: str) -> DataRequest:
        """A request with its history."""
        return read_answer(DataRequest, self._send("GET", _path(request_id)))

    def receipt(self, request_id: str) -> Receipt:
        """What has become of a request, signed; `aegis_sdk.receipts` checks it. For both sides, in any state."""
        return read_answer(Receipt, self._send("GET", _path(request_id, "receipt")))

    def approve(self, request_id: str, reason: str | None = None, limit: GrantLimit | None = None) -> DataRequest:
        """Agree to hand over what the advice has picked, unless the limit is reached. For the provider.

        Raises:
            ConflictError: The consumer was granted enough (`enough_granted`), or the request is in another state.
        """
        asked = Approval(reason=reason, limit=limit).model_dump(exclude_none=True)
        answer = self._send("POST", _path(request_id, "approve"), content=json_bytes(asked))
        return read_answer(DataRequest, answer)

    def decline(self, request_id: str, reason: str) -> DataRequest:
        """Do not agree. For the provider."""
        return self._step(request_id, "decline", reason=reason)

    def counter(self, request_id: str, configuration: str, reason: str | None = None) -> DataRequest:
        """Offer another configuration that meets what the consumer requires. For the provider."""
        return self._step(request_id, "counter", configuration=configuration, reason=reason)

    def accept(self, request_id: str, reason: str | None = None) -> DataRequest:
        """Take what the provider has offered instead. For the consumer."""
        return self._step(request_id, "accept", reason=reason)

    def deliver(self, request_id: str, descriptor: DeliveryDescriptor) -> DataRequest:
        """Say where the approved table is, and what it is. For the provider."""
        answer = self._send("POST", _path(request_id, "deliver"), content=json_bytes(descriptor))
        return read_answer(DataRequest, answer)

    def relink(self, request_id: str, url: str, expires_at: datetime | None = None) -> DataRequest:
        """Say where the delivered file is now. For the provider."""
        answer = self._send(
            "POST", _path(request_id, "relink"), content=json_bytes(Link(url=url, expires_at=expires_at))
        )
        return read_answer(DataRequest, answer)

    def lease(self, request_id: str, seconds: int, lease: str | None = None) -> Lease:
        """Keep other programs from fulfilling an approved request, or renew the lease of this id. For the provider.

        Raises:
            ConflictError: Another program has it (`leased`), or the request is not approved.
        """
        asked = LeaseRequest(lease=lease, seconds=seconds)
        return read_answer(Lease, self._send("POST", _path(request_id, "lease"), content=json_bytes(asked)))

    def release(self, request_id: str, lease: str) -> None:
        """Let other programs fulfil a request. For the provider."""
        read_nothing(self._send("DELETE", _path(request_id, "lease", quote(lease, safe=""))))

    def evidence(self, request_id: str) -> Evidence:
        """The published counts of what was delivered, to compare the file with. For the consumer, once there is one."""
        return read_answer(Evidence, self._send("GET", _path(request_id, "evidence")))

    def receive(self, request_id: str, verdict: DeliveryVerdict) -> DataRequest:
        """Say that the delivered file is what was agreed upon. For the consumer."""
        answer = self._send("POST", _path(request_id, "receive"), content=json_bytes(verdict))
        return read_answer(DataRequest, answer)

    def dispute(self, request_id: str, verdict: DeliveryVerdict) -> DataRequest:
        """Say that it is not, with the evidence. For the consumer."""
        answer = self._send("POST", _path(request_id, "dispute"), content=json_bytes(verdict))
        return read_answer(DataRequest, answer)

    def withdraw(self, request_id: str, reason: str | None = None) -> DataRequest:
        """Take the request back before anything is delivered. For the consumer."""
        return self._step(request_id, "withdraw", reason=reason)

    def end(self, request_id: str, reason: str) -> DataRequest:
        """End an open request. For operators."""
        return self._step(request_id, "end", reason=reason)

    def erase_contact(self, request_id: str) -> DataRequest:
        """Forget whom to ask about a request. For the consumer and operators."""
        return read_answer(DataRequest, self._send("DELETE", _path(request_id, "contact")))

    def _step(self, request_id: str, action: str, **asked: str | None) -> DataRequest:
        answer = self._send("POST", _path(request_id, action), content=json_bytes(without_none(asked)))
        return read_answer(DataRequest, answer)


def _path(request_id: str, *parts: str) -> str:
    return "/".join(["/v1/requests", quote(request_id, safe=""), *parts])
