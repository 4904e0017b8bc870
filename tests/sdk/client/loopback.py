"""A real HTTP server on this machine that gives a client the answers of a test, in their order."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from aegis_sdk.wire import EXAMPLE_PROBLEM


@dataclass(frozen=True)
class Answer:
    """What is sent back; without a status, the connection is closed."""

    status: int | None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass
class Asked:
    """A request as it came over the wire."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Answering:
    """A server at `url`, with what it was asked. It repeats the last of its answers."""

    url: str
    answers: list[Answer] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)

    def next(self) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def problem(status: int, code: str = "malformed", **headers: str) -> Answer:
    """A refusal as the service sends it."""
    body = json.dumps(EXAMPLE_PROBLEM | {"status": status, "code": code}).encode()
    return _answer(status, "application/problem+json", body, headers)


def page(status: int, **headers: str) -> Answer:
    """What a proxy answers with."""
    return _answer(status, "text/html", f"<html><h1>{status}</h1></html>".encode(), headers)


def document(status: int, body: Any, **headers: str) -> Answer:
    """A success as the service sends it."""
    return _answer(status, "application/json", json.dumps(body).encode(), headers)


HANGS_UP = Answer(None)


def _answer(status: int, media_type: str, body: bytes, headers: Mapping[str, str]) -> Answer:
    own = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, {"Content-Type": media_type} | own, body)


@contextmanager
def answering(*answers: Answer) -> Iterator[Answering]:
    """Run such a server on a free port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            server.asked.append(Asked(self.command, self.path, dict(self.headers.items()), body))
            told = server.next()
            self.close_connection = True
            if told.status is None:
                return
            self.send_response_only(told.status)
            for name, value in told.headers.items():
                self.send_header(name, value)
            if told.status != 204:
                self.send_header("Content-Length", str(len(told.body)))
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(told.body)

        def log_message(self, *_: Any) -> None:
            pass

    for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        setattr(Handler, f"do_{method}", Handler.handle_any)
    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = Answering(f"http://127.0.0.1:{listening.server_address[1]}", list(answers))
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()
