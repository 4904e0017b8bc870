"""The callback address of a consumer: a small server that takes the messages of providers."""

import json
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import unquote

from aegis_sdk.dataspace.inbox import Inbox, MisplacedError
from aegis_sdk.wire import dataspace as dsp

_LARGEST: Final = 256 * 1024
_SECONDS: Final = 10.0
_MOST_AT_ONCE: Final = 16


class _Listener(ThreadingHTTPServer):
    """The server: it takes what is sent below its secret."""

    daemon_threads = True

    def __init__(self, place: tuple[str, int], inbox: Inbox) -> None:
        super().__init__(place, _Handler)
        self.inbox, self.secret = inbox, secrets.token_urlsafe(24)
        self.taking = threading.Semaphore(_MOST_AT_ONCE)

    def handle_error(self, *_: Any) -> None:  # noqa: ANN401 - its own
        """Print nothing of a provider that hangs up."""


class _Handler(BaseHTTPRequestHandler):
    """Answers one message."""

    server: _Listener
    timeout = _SECONDS
    server_version, sys_version = "Aegis", ""

    def do_GET(self) -> None:
        self._answer(self._read)

    def do_POST(self) -> None:
        self._answer(self._take)

    def _answer(self, act: Callable[[list[str]], dict[str, Any] | None]) -> None:
        parts, secret = self.path.strip("/").split("/"), self.server.secret.encode()
        places = [place for place, part in enumerate(parts, 1) if secrets.compare_digest(part.encode(), secret)]
        with self.server.taking:
            try:
                said = act([unquote(part) for part in parts[places[0] :]]) if places else None
                self._send(404 if said is None else 200, said or {})
            except MisplacedError as error:
                self._send(error.status, _error(parts, str(error)))

    def _read(self, path: list[str]) -> dict[str, Any] | None:
        return self.server.inbox.read(path[0], path[1]) if len(path) == 2 else None  # noqa: PLR2004 - kind and id

    def _take(self, path: list[str]) -> dict[str, Any] | None:
        if len(path) != 3:  # noqa: PLR2004 - kind, id and message
            return None
        self.server.inbox.take(path[0], path[1], path[2], self._body())
        return {}

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()) or int(length[:9]) > _LARGEST:
            raise MisplacedError(413, f"Send a body of at most {_LARGEST} bytes, with its length.")
        return self.rfile.read(int(length))

    def _send(self, status: int, said: dict[str, Any]) -> None:
        content = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:  # noqa: ANN401 - its own
        """Log nothing: the path has the secret."""


@contextmanager
def listening(inbox: Inbox, host: str, port: int, address: str | None = None) -> Iterator[str]:
    """Listen while the block runs, and yield the callback address.

    The address ends with a secret, and only what is sent below it is taken: a provider that was given it, or whom that
    one has told, sends it. Nothing else is answered.

    Args:
        host: The address to listen at, and `port`; 0 for any free one.
        address: The URL at which providers reach it, such as that of a proxy; by default, of `host` itself.

    Raises:
        OSError: Nothing can listen there.
    """
    server = _Listener((host, port), inbox)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
    thread.start()
    try:
        yield f"{(address or f'http://{host}:{server.server_address[1]}').rstrip('/')}/{server.secret}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _error(path: list[str], reason: str) -> dict[str, Any]:
    model = dsp.TransferError if "transfers" in path else dsp.ContractNegotiationError
    nobody = "urn:uuid:00000000-0000-0000-0000-000000000000"
    return model.of(providerPid=nobody, consumerPid=nobody, code="refused", reason=[reason]).written()
