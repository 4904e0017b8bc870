"""Stores of files, as providers have them: a web server that takes PUT, and an emulator of S3 in its own process."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx


@dataclass
class WebStore:
    """A web server at `url` with its files by path; it refuses the first `failures` uploads with a 503."""

    url: str
    files: dict[str, bytes] = field(default_factory=dict)
    methods: list[str] = field(default_factory=list)
    failures: int = 0
    status: int = 201


@contextmanager
def web_store() -> Iterator[WebStore]:
    """Run a web server on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            store.methods.append("PUT")
            if store.failures:
                store.failures -= 1
                self._answer(503)
                return
            if store.status < 300:
                store.files[self.path] = body
            self._answer(store.status)

        def do_DELETE(self) -> None:
            store.methods.append("DELETE")
            self._answer(204 if store.files.pop(self.path, None) is not None else 404)

        def do_HEAD(self) -> None:
            body = store.files.get(self.path)
            self._answer(404 if body is None else 200, body or b"")

        def do_GET(self) -> None:
            body = store.files.get(self.path)
            self._answer(404 if body is None else 200, body or b"")

        def _answer(self, status: int, body: bytes = b"") -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    store = WebStore(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield store
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def s3_server() -> Iterator[str]:
    """Run moto's server with an empty bucket `shared`, and yield its address."""
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as running:
        try:
            started = (re.search(r"http://127\.0\.0\.1:\d+", line) for line in running.stderr)
            address = next(match.group() for match in started if match)
            # A full pipe would stop it.
            threading.Thread(target=running.stderr.read, daemon=True).start()
            httpx.put(f"{address}/shared").raise_for_status()
            yield address
        finally:
            running.terminate()


def s3_environment(address: str) -> dict[str, str]:
    """The variables by which tools find an S3 server and their credentials."""
    return {
        "AWS_ENDPOINT_URL": address,
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": "provider",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1",
    }
