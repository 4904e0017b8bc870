"""A provider in the Dataspace Protocol, in a process of its own, that plays the scripts that its datasets name.

A script says what it sends when, as `request:offers;events:agreement`: when the first message of the consumer arrives,
it offers; when the consumer's event arrives, it agrees. `GET /log` has the statuses that its messages were answered.
Several messages at once are separated by commas; before one with a `+`, it waits for `GET /go`.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote
from uuid import uuid4

import httpx

from tests.dataspace import hold_to_schema

CONTEXT = "https://w3id.org/dspace/2025/1/context.jsonld"
RULES = {"permission": [{"action": "use"}]}

#: The messages of a provider, by the ends of their paths.
KINDS = {
    "offers": "ContractOfferMessage",
    "agreement": "ContractAgreementMessage",
    "events": "ContractNegotiationEventMessage",
    "start": "TransferStartMessage",
    "suspension": "TransferSuspensionMessage",
    "completion": "TransferCompletionMessage",
}


class Provider:
    """The processes of the provider, and what its messages were answered."""

    def __init__(self) -> None:
        self.processes: dict[str, dict[str, Any]] = {}
        self.log: list[dict[str, Any]] = []
        self.got: list[str] = []
        self.may_go_on = threading.Semaphore(0)

    def begin(self, kind: str, message: dict[str, Any]) -> dict[str, Any]:
        about = message["offer"]["target"] if kind == "negotiations" else message["agreementId"]
        pid = f"urn:uuid:{uuid4()}"
        steps = [part.split(":") for part in about.removeprefix("urn:script:").split(";") if part]
        known = {"consumerPid": message["consumerPid"], "providerPid": pid, "callback": message["callbackAddress"]}
        self.processes[pid] = known | {"kind": kind, "steps": steps, "target": about}
        self.act(pid, "request")
        names = {"negotiations": "ContractNegotiation", "transfers": "TransferProcess"}
        pids = {name: known[name] for name in ("providerPid", "consumerPid")}
        return {"@context": [CONTEXT], "@type": names[kind], **pids, "state": "REQUESTED"}

    def act(self, pid: str, occasion: str) -> None:
        """Send what the script says, after the answer to what occasions it."""
        self.got.append(occasion)
        script = self.processes[pid]["steps"]
        if script and script[0][0] == occasion:
            steps = script.pop(0)[1].split(",")
            threading.Thread(target=self.send, args=[pid, steps], daemon=True).start()

    def send(self, pid: str, steps: list[str]) -> None:
        process = self.processes[pid]
        for step in steps:
            if step.startswith("+"):
                self.may_go_on.acquire()
            what = step.lstrip("+")
            path = f"{process['callback']}/{process['kind']}/{process['consumerPid']}/{what}"
            message = self.message(process, what)
            hold_to_schema(message)
            noted: dict[str, Any] = {"about": process["consumerPid"], "sent": what}
            self.log.append(noted)
            answer = httpx.post(path, json=message, timeout=10)
            if answer.is_error:
                hold_to_schema(answer.json())
            noted |= {"status": answer.status_code, "state": self.state(process)}

    def state(self, process: dict[str, Any]) -> str:
        """What the consumer says of its process."""
        answer = httpx.get(f"{process['callback']}/{process['kind']}/{process['consumerPid']}", timeout=10)
        hold_to_schema(answer.json())
        return str(answer.json()["state"])

    def message(self, process: dict[str, Any], what: str) -> dict[str, Any]:
        pids = {name: process[name] for name in ("providerPid", "consumerPid")}
        ending = {"negotiations": "ContractNegotiationTerminationMessage", "transfers": "TransferTerminationMessage"}
        policy = {"@id": f"urn:uuid:{uuid4()}", "target": process["target"], **RULES}
        parties = {"assigner": "urn:provider", "assignee": "urn:consumer", "timestamp": "2026-03-01T12:00:00Z"}
        file = {
            "@type": "DataAddress",
            "endpointType": "https://w3id.org/idsa/v4.1/HTTP",
            "endpoint": "https://a.example",
        }
        members: dict[str, Any] = {
            "offers": {"offer": policy | {"@type": "Offer"}},
            "agreement": {"agreement": policy | parties | {"@type": "Agreement"}},
            "events": {"eventType": "FINALIZED"},
            "start": {"dataAddress": file},
        }
        kind = KINDS.get(what) or ending[process["kind"]]
        return {"@context": [CONTEXT], "@type": kind, **pids} | members.get(what, {})


def serve() -> None:
    provider = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/.well-known/dspace-version":
                self.answer(200, {"protocolVersions": [{"version": "2025-1", "path": "/dsp", "binding": "HTTPS"}]})
            else:
                if self.path == "/go":
                    provider.may_go_on.release()
                self.answer(200, {"log": provider.log, "got": provider.got})

        def do_POST(self) -> None:
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            hold_to_schema(message)  # a fault ends the connection, and so the test
            _, _, kind, *rest = unquote(self.path).split("/")
            if rest == ["request"]:
                self.answer(201, provider.begin(kind, message))
                return
            self.answer(200, {})
            provider.act(rest[0], rest[-1])

        def answer(self, status: int, said: dict[str, Any]) -> None:
            content = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    sys.stdout.write(f"http://127.0.0.1:{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    serve()
