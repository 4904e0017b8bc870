"""A counterpart in the Dataspace Protocol: a connector of a consumer, on this machine, that notes what it is sent.

Every message in both directions is held to the schemas of the protocol where they are at hand (`SCHEMAS`).
"""

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import jsonschema_rs

from aegis_sdk.wire.dataspace import CONTEXT

_PUBLISHED = os.environ.get("AEGIS_STANDARDS_FILES", Path(__file__).parents[2] / "shared" / "standards")
SCHEMAS = Path(_PUBLISHED) / "dsp-2025-1"

BASE = "/dsp/2025-1"
_ROOT = "https://w3id.org/dspace/2025/1/"

#: The schema of each type of message, by its file's name.
_NAMES = {
    "CatalogRequestMessage": "catalog/catalog-request-message",
    "Catalog": "catalog/catalog",
    "Dataset": "catalog/dataset",
    "CatalogError": "catalog/catalog-error",
    "ContractRequestMessage": "negotiation/contract-request-message",
    "ContractOfferMessage": "negotiation/contract-offer-message",
    "ContractAgreementMessage": "negotiation/contract-agreement-message",
    "ContractAgreementVerificationMessage": "negotiation/contract-agreement-verification-message",
    "ContractNegotiationEventMessage": "negotiation/contract-negotiation-event-message",
    "ContractNegotiationTerminationMessage": "negotiation/contract-negotiation-termination-message",
    "ContractNegotiation": "negotiation/contract-negotiation",
    "ContractNegotiationError": "negotiation/contract-negotiation-error",
    "TransferRequestMessage": "transfer/transfer-request-message",
    "TransferStartMessage": "transfer/transfer-start-message",
    "TransferSuspensionMessage": "transfer/transfer-suspension-message",
    "TransferCompletionMessage": "transfer/transfer-completion-message",
    "TransferTerminationMessage": "transfer/transfer-termination-message",
    "TransferProcess": "transfer/transfer-process",
    "TransferError": "transfer/transfer-error",
}


@cache
def _schemas() -> dict[str, dict[str, Any]]:
    """The published schemas by their ids; empty where they are missing.

    One of them refers to `x#definitions/..`, which is not a JSON Pointer; all implementations read `#/definitions/..`.
    """
    texts = (path.read_text(encoding="utf-8") for path in sorted(SCHEMAS.glob("*/*-schema.json")))
    read = (json.loads(text.replace("json#definitions/", "json#/definitions/")) for text in texts)
    return {schema["$id"]: schema for schema in read}


@cache
def _validator(name: str) -> jsonschema_rs.Validator:
    schemas = _schemas()
    registry = jsonschema_rs.Registry([(place, schema) for place, schema in schemas.items()])
    return jsonschema_rs.Draft201909Validator(schemas[f"{_ROOT}{name}-schema.json"], registry=registry)


#: All messages that went either way in this process, for what judges them together.
SEEN: list[dict[str, Any]] = []


def hold_to_schema(message: dict[str, Any], name: str | None = None) -> None:
    """Check that a message is as its schema says. Without the schemas, nothing is checked here."""
    SEEN.append(message)
    if _schemas():
        _validator(name or _NAMES[message["@type"]]).validate(message)


def new_pid() -> str:
    return f"urn:uuid:{uuid4()}"


@dataclass
class Connector:
    """A consumer's connector at `url`, which knows what it was told and refuses the kinds of message in `refuses`."""

    port: int
    refuses: set[str] = field(default_factory=set)
    received: list[tuple[str, dict[str, Any], dict[str, str]]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/callback"

    def about(self, pid: str) -> list[dict[str, Any]]:
        """The messages about one of its processes, in order."""
        return [message for path, message, _ in self.received if f"/{pid}/" in path]

    def told(self, pid: str) -> list[str]:
        """Their last path segments, in order."""
        return [path.rpartition("/")[2] for path, _, _ in self.received if f"/{pid}/" in path]


@contextmanager
def connected() -> Iterator[Connector]:
    """Run a connector on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            kind = self.path.rpartition("/")[2]
            status = 404 if kind in connector.refuses else 200
            if status == 200:
                connector.received.append((self.path, body, {k.lower(): v for k, v in self.headers.items()}))
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    connector = Connector(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield connector
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        for _, message, _ in connector.received:
            hold_to_schema(message)


def message(kind: str, **members: Any) -> dict[str, Any]:
    return {"@context": [CONTEXT], "@type": kind} | members


@dataclass
class Caller:
    """A consumer that calls the protocol's endpoints with a key, and holds what it sends and gets to the schemas."""

    api: httpx.AsyncClient
    key: dict[str, str]

    async def get(self, path: str) -> httpx.Response:
        answer = await self.api.get(f"{BASE}{path}", headers=self.key)
        hold_to_schema(answer.json())
        return answer

    async def post(self, path: str, sent: dict[str, Any]) -> httpx.Response:
        hold_to_schema(sent)
        answer = await self.api.post(f"{BASE}{path}", json=sent, headers=self.key)
        hold_to_schema(answer.json())
        return answer

    async def tell(self, kind: str, path: str, process: dict[str, Any], **members: Any) -> int:
        """Send a message about a process, and return the status of the answer."""
        pids = {name: process[name] for name in ("providerPid", "consumerPid")}
        return (await self.post(path.format(process["providerPid"]), message(kind, **pids, **members))).status_code
