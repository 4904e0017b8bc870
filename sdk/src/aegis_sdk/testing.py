"""An in-memory service for tests of programs that use the SDK: typed responses in, recorded requests out.

service = MockService().with_entry(head).with_advice(advice)
client = Client(transport=service)
assert client.advise(head.id, "mutual_information").configuration == "c17"
assert service.requests[-1].body["measure"] == "mutual_information"
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self

import httpx
from pydantic import BaseModel

from aegis_sdk.wire import (
    Advice,
    AuditPage,
    AuditRecord,
    CoarseAdvice,
    DataRequest,
    DataRequestPage,
    EntryHead,
    Evidence,
    Head,
    HeadPage,
    Lease,
    Measure,
    MeasureList,
    Problem,
    PublicKeySet,
    PublishedHead,
    PublishingTerms,
    Receipt,
    SignedHead,
    SignedHeadPage,
)

__all__ = ["MockService", "RecordedRequest"]

_LEASE = Lease(lease="7d0c7c5e-0a53-4f0e-9a35-0f5a8be1a6c2", expires_at=datetime(2100, 1, 1, tzinfo=UTC))


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request as the service received it, without its key. `body` is the parsed JSON, None without a body."""

    method: str
    path: str
    params: dict[str, str]
    body: Any


class MockService(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """An httpx transport that responds like the service, with given entries, advice, data requests and so on.

    It serves only what its `with_` methods add; everything else is 404. Nothing is checked: an advice answers every
    question on its entry by its measure and label, and publishing an entry returns the head of that name.
    `with_problem` makes it refuse a request. It also serves an `AsyncClient`.
    """

    def __init__(self) -> None:
        self.requests: list[RecordedRequest] = []
        self._entries: dict[str, EntryHead] = {}
        self._summaries: dict[str, Mapping[str, Any]] = {}
        self._advice: dict[str, Advice | CoarseAdvice] = {}
        self._requests: dict[str, DataRequest] = {}
        self._evidence: dict[str, Evidence] = {}
        self._receipts: dict[str, Receipt] = {}
        self._told: dict[str, BaseModel] = {"measures": MeasureList(items=[])}
        self._problems: dict[tuple[str, str], tuple[int, Problem]] = {}

    def with_entry(self, head: Head, summaries: Mapping[str, Any] | None = None) -> Self:
        """Add an entry; its schema is empty unless the head is an `EntryHead`."""
        if not isinstance(head, EntryHead):
            head = EntryHead(**head.model_dump(), entry_schema={})
        self._entries[head.id] = head
        if summaries is not None:
            self._summaries[head.id] = summaries
        return self

    def with_advice(self, advice: Advice | CoarseAdvice) -> Self:
        """Add an advice, finished or not; a later one with the same id replaces it."""
        self._advice[advice.id] = advice
        return self

    def with_request(self, request: DataRequest) -> Self:
        """Add a data request; a later one with the same id replaces it. Actions return it unchanged."""
        self._requests[request.id] = request
        return self

    def with_evidence(self, evidence: Evidence) -> Self:
        """Add the published counts for the delivery of a data request."""
        self._evidence[evidence.request] = evidence
        return self

    def with_receipt(self, receipt: Receipt) -> Self:
        """Add the receipt of a data request; a later one of the same request replaces it."""
        self._receipts[receipt.claims.request] = receipt
        return self

    def with_audit(self, *records: AuditRecord, heads: Sequence[SignedHead] = ()) -> Self:
        """Set the records of the audit log and its signed heads, newest first; listings are not filtered."""
        self._told["audit"] = AuditPage(items=list(records))
        self._told["heads"] = SignedHeadPage(items=list(heads))
        return self

    def with_keys(self, keys: PublicKeySet) -> Self:
        """Set the public keys that verify receipts and signed heads."""
        self._told["keys"] = keys
        return self

    def with_measures(self, *measures: Measure) -> Self:
        """Add measures."""
        known = MeasureList.model_validate(self._told["measures"]).items
        self._told["measures"] = MeasureList(items=[*known, *measures])
        return self

    def with_terms(self, terms: PublishingTerms) -> Self:
        """Set the requirements for entries of any name."""
        self._told["publishing"] = terms
        return self

    def with_problem(self, method: str, path: str, status: int, problem: Problem | None = None) -> Self:
        """Refuse this request from now on, for example `with_problem("POST", "/v1/entries", 409)`."""
        self._problems[method, path] = (status, problem or Problem(status=status))
        return self

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Record the request and respond."""
        content = request.read()
        seen = RecordedRequest(
            method=request.method,
            path=request.url.path,
            params=dict(request.url.params),
            body=json.loads(content) if content else None,
        )
        self.requests.append(seen)
        if (seen.method, seen.path) in self._problems:
            return _refusal(*self._problems[seen.method, seen.path])
        return self._answer(seen) or self._audited(seen.path) or self._requested(seen.path) or _missing()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The same for an `AsyncClient`."""
        return self.handle_request(request)

    def _answer(self, request: RecordedRequest) -> httpx.Response | None:
        response: httpx.Response | None
        match (request.method, *request.path.strip("/").split("/")):
            case ("GET", "v1", "measures" | "publishing" as path):
                response = _json(200, self._told.get(path))
            case ("GET", "v1", "entries"):
                response = _json(200, HeadPage(items=list(self._entries.values())))
            case ("POST", "v1", "entries"):
                response = self._published(request.body["name"])
            case ("GET", "v1", "entries", entry_id, "summaries") if entry_id in self._summaries:
                response = httpx.Response(200, json=self._summaries[entry_id])
            case ("POST", "v1", "entries", entry_id, "advice"):
                response = self._advised(entry_id, request.body)
            case ("GET", "v1", "advice", advice_id):
                response = _json(200, self._advice.get(advice_id))
            case ("DELETE", "v1", "entries", entry_id):
                response = httpx.Response(204) if self._entries.pop(entry_id, None) else None
            case ("PUT", "v1", "entries", entry_id):
                response = _published(200, self._entries.get(entry_id))
            case ("GET" | "PATCH", "v1", "entries", entry_id) | ("PUT", "v1", "entries", entry_id, "sign-off"):
                response = _json(200, self._entries.get(entry_id))
            case _:
                response = None
        return response

    def _audited(self, path: str) -> httpx.Response | None:
        """A receipt, or a part of the audit log."""
        match path.strip("/").split("/"):
            case ("v1", "requests", request_id, "receipt"):
                return _json(200, self._receipts.get(request_id)) or _missing()
            case ("v1", "audit"):
                return _json(200, self._told.get("audit"))
            case ("v1", "audit", "heads"):
                return _json(200, self._told.get("heads"))
            case (".well-known", "aegis-keys.json"):
                return _json(200, self._told.get("keys"))
            case _:
                return None

    def _newest(self) -> Iterator[DataRequest]:
        """The data requests, newest first."""
        return reversed(self._requests.values())

    def _requested(self, path: str) -> httpx.Response | None:
        """The last data request for an entry, the one with an id (for any action), or all."""
        match path.strip("/").split("/"):
            case ("v1", "entries", entry_id, "requests"):
                return _json(201, next((one for one in self._newest() if one.entry.id == entry_id), None))
            case ("v1", "requests"):
                return _json(200, DataRequestPage(items=[*self._newest()]))
            case ("v1", "requests", request_id, "evidence"):
                return _json(200, self._evidence.get(request_id))
            case ("v1", "requests", request_id, "lease", *lease) if request_id in self._requests:
                return httpx.Response(204) if lease else _json(200, _LEASE)
            case ("v1", "requests", request_id, *_):
                return _json(200, self._requests.get(request_id))
            case _:
                return None

    def _published(self, name: str) -> httpx.Response | None:
        return _published(201, next((head for head in self._entries.values() if head.name == name), None))

    def _advised(self, entry_id: str, asked: Mapping[str, Any]) -> httpx.Response | None:
        for advice in self._advice.values():
            is_asked = all(advice.request.get(name) == asked.get(name) for name in ("measure", "label"))
            if advice.entry.id == entry_id and is_asked:
                if advice.status in ("succeeded", "failed"):
                    return _json(200, advice)
                return httpx.Response(202, headers={"Location": f"/v1/advice/{advice.id}", "Retry-After": "0"})
        return None


def _json(status: int, answer: BaseModel | None) -> httpx.Response | None:
    """The response of the service, with an ETag for an entry."""
    if answer is None:
        return None
    headers = {"ETag": f'"{answer.version}"'} if isinstance(answer, Head) else {}
    return httpx.Response(status, json=answer.model_dump(mode="json", by_alias=True), headers=headers)


def _published(status: int, head: EntryHead | None) -> httpx.Response | None:
    """The response to an upload, without the schema."""
    return None if head is None else _json(status, PublishedHead(**head.model_dump(exclude={"entry_schema"})))


def _missing() -> httpx.Response:
    return _refusal(404, Problem(title="Not Found", status=404, code="not_found"))


def _refusal(status: int, problem: Problem) -> httpx.Response:
    return httpx.Response(
        status,
        content=problem.model_dump_json(exclude_none=True),
        headers={"Content-Type": "application/problem+json"},
    )
