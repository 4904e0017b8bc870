"""Data requests: a consumer asks for a masked table, and its provider decides."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

from aegis_sdk._answers import ServiceFlows, entry_path, read_nothing, version_params
from aegis_sdk._errors import AegisError
from aegis_sdk._flows import Awaiting, Blocking, Flow, Pages, Pause, listing, method
from aegis_sdk._sending import TimeLimit
from aegis_sdk.wire import (
    DataRequest,
    DataRequestHead,
    DataRequestPage,
    DeliveryDescriptor,
    DeliveryVerdict,
    Evidence,
    GrantLimit,
    Lease,
    LeaseRequest,
    Receipt,
)

_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0
_WAITS = "requested"


class DataRequestsFlows(ServiceFlows):
    """Data requests of the caller's tenant and for its entries; for operators, all requests.

    An action that the current state does not allow raises `ConflictError`, which lists the possible ones.
    """

    @method
    def create(
        self,
        entry_id: str,
        measure: str | None = None,
        *,
        purpose: str,
        contact: str,
        terms: str,
        version: int | None = None,
        label: str | None = None,
        target: str | None = None,
        attributes: Sequence[str] | None = None,
        weights: Mapping[str, float] | None = None,
        require: Mapping[str, float] | None = None,
        kinds: Sequence[str] | None = None,
        unit: str | None = None,
        configuration: str | None = None,
        wait: float = 0.0,
    ) -> Flow[DataRequest]:
        """Request the masked table of the first configuration of your advice on a question, or of a given one.

        Args:
            measure: The measure of utility; `label`, `target`, `attributes`, `weights`, `require`, `kinds` and
                `unit` are as in `Client.advise`.
            contact: For the provider.
            terms: Acceptance of the entry's terms: their digest, `terms` of the entry's head.
            configuration: The one to ask for, which meets `require`.
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
            **({} if label is None else {"label": label}),
            **({} if target is None else {"target": target}),
            **({} if kinds is None else {"kinds": list(kinds)}),
            **({} if unit is None else {"unit": unit}),
            **({} if configuration is None else {"configuration": configuration}),
        }
        path = entry_path(entry_id, "requests")
        request = yield from self._call(DataRequest, "POST", path, asked, params=version_params(version))
        return (yield from self._advised(request, TimeLimit(wait)))

    def _advised(self, request: DataRequest, deadline: TimeLimit) -> Flow[DataRequest]:
        """The request once it is advised, or as last seen: the request exists even if polling fails."""
        pause = _SHORTEST_PAUSE
        while request.state == _WAITS and deadline.left():
            yield Pause(min(pause, deadline.left()))
            pause = min(1.5 * pause, _LONGEST_PAUSE)
            try:
                request = yield from self._get(request.id)
            except AegisError:
                return request
        return request

    @listing
    def list(
        self, state: str | None = None, entry_id: str | None = None, side: str | None = None
    ) -> Pages[DataRequestHead]:
        """The visible requests, newest first; `side`: only those that the tenant made (`consumer`) or got."""
        wanted = {"state": state, "entry": entry_id, "side": side}
        return self._pages(DataRequestPage, "/v1/requests", wanted)

    @method
    def get(self, request_id: str) -> Flow[DataRequest]:
        """A request with its history."""
        return self._get(request_id)

    def _get(self, request_id: str) -> Flow[DataRequest]:
        return self._call(DataRequest, "GET", _path(request_id))

    @method
    def receipt(self, request_id: str) -> Flow[Receipt]:
        """The signed history of a request, which `aegis_sdk.receipts` verifies. For both sides, in any state."""
        return self._call(Receipt, "GET", _path(request_id, "receipt"))

    @method
    def approve(
        self,
        request_id: str,
        reason: str | None = None,
        limit: GrantLimit | None = None,
        *,
        accept_composition: bool = False,
    ) -> Flow[DataRequest]:
        """Grant the recommended configuration, unless the limit is reached or the policy forbids it beside others.

        For the provider.

        Args:
            request_id: The id of the request.
            reason: For the other side and for the record.
            limit: The most requests that the consumer is granted.
            accept_composition: Grant it although the policy `composition` forbids it beside what the consumer has of
                the table.

        Raises:
            ConflictError: The consumer's limit is reached (`enough_granted`), the policy forbids it (`not_composed`),
                or the request is in another state.
        """
        granted = None if limit is None else limit.model_dump(exclude_unset=True)
        asked = {"reason": reason, "limit": granted, "accept_composition": accept_composition or None}
        return self._act(request_id, "approve", asked)

    @method
    def decline(self, request_id: str, reason: str) -> Flow[DataRequest]:
        """Decline the request, or take its approval back before delivery. For the provider."""
        return self._act(request_id, "decline", {"reason": reason})

    @method
    def counter(
        self, request_id: str, configuration: str, reason: str | None = None, *, accept_composition: bool = False
    ) -> Flow[DataRequest]:
        """Offer another configuration that meets what the consumer requires. For the provider.

        Raises:
            ConflictError: The policy forbids it beside what the consumer has (`not_composed`; `accept_composition`
                offers it nevertheless), or the request is in another state.
        """
        accepts = accept_composition or None
        asked = {"configuration": configuration, "reason": reason, "accept_composition": accepts}
        return self._act(request_id, "counter", asked)

    @method
    def accept(self, request_id: str, reason: str | None = None) -> Flow[DataRequest]:
        """Accept the provider's counter-offer. For the consumer."""
        return self._act(request_id, "accept", {"reason": reason})

    @method
    def deliver(self, request_id: str, descriptor: DeliveryDescriptor) -> Flow[DataRequest]:
        """Give the link and the description of the approved table. For the provider."""
        return self._act(request_id, "deliver", descriptor.model_dump(mode="json", exclude_unset=True))

    @method
    def relink(self, request_id: str, url: str, expires_at: datetime | None = None) -> Flow[DataRequest]:
        """Replace the link to the delivered file. For the provider."""
        ends = None if expires_at is None else expires_at.isoformat()
        return self._act(request_id, "relink", {"url": url, "expires_at": ends})

    @method
    def lease(self, request_id: str, seconds: int, lease: str | None = None) -> Flow[Lease]:
        """Lease an approved request, so that no other program fulfils it, or renew a lease. For the provider.

        Raises:
            ConflictError: Another program has the lease (`leased`), or the request is not approved.
        """
        asked = LeaseRequest(lease=lease, seconds=seconds)
        return self._call(Lease, "POST", _path(request_id, "lease"), asked)

    @method
    def release(self, request_id: str, lease: str) -> Flow[None]:
        """Give a lease back. For the provider."""
        read_nothing((yield from self._send("DELETE", _path(request_id, "lease", quote(lease, safe="")))))

    @method
    def evidence(self, request_id: str) -> Flow[Evidence]:
        """The published counts to compare a delivered file with. For the consumer, after delivery."""
        return self._call(Evidence, "GET", _path(request_id, "evidence"))

    @method
    def receive(self, request_id: str, verdict: DeliveryVerdict) -> Flow[DataRequest]:
        """Confirm that the delivered file is the agreed one. For the consumer."""
        return self._act(request_id, "receive", verdict.model_dump(mode="json", exclude_unset=True))

    @method
    def dispute(self, request_id: str, verdict: DeliveryVerdict) -> Flow[DataRequest]:
        """Dispute the delivered file, with proof. For the consumer."""
        return self._act(request_id, "dispute", verdict.model_dump(mode="json", exclude_unset=True))

    @method
    def withdraw(self, request_id: str, reason: str | None = None) -> Flow[DataRequest]:
        """Withdraw the request before anything is delivered. For the consumer."""
        return self._act(request_id, "withdraw", {"reason": reason})

    @method
    def end(self, request_id: str, reason: str) -> Flow[DataRequest]:
        """End an open request. For operators."""
        return self._act(request_id, "end", {"reason": reason})

    @method
    def erase_contact(self, request_id: str) -> Flow[DataRequest]:
        """Erase the contact of a request. For the consumer and operators."""
        return self._call(DataRequest, "DELETE", _path(request_id, "contact"))

    def _act(self, request_id: str, action: str, asked: Mapping[str, Any]) -> Flow[DataRequest]:
        body = {"action": action} | {name: value for name, value in asked.items() if value is not None}
        return self._call(DataRequest, "POST", _path(request_id, "actions"), body)


class DataRequests(DataRequestsFlows, Blocking):
    """Data requests. `Client.requests` is one; `DataRequestsFlows` says more."""


class AsyncDataRequests(DataRequestsFlows, Awaiting):
    """The same as `DataRequests`, each to be awaited. `AsyncClient.requests` is one."""


def _path(request_id: str, *parts: str) -> str:
    return "/".join(["/v1/requests", quote(request_id, safe=""), *parts])
