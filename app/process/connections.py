"""Connections of clients: how many there may be, how long their headers may be, and how slowly they may send."""

import asyncio
import json
from http import HTTPStatus
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

#: The most connections at a time: fewer than the 1,024 files that a process may usually have open.
CONNECTIONS = 800

#: The most bytes and the most headers of a request, its first line included.
HEADER_BYTES, HEADERS = 64 * 1024, 100

#: Seconds within which a request's headers must have arrived.
HEADER_SECONDS = 20.0

#: After as many seconds of a body, at least so many bytes of it must have arrived in each second, on average.
BODY_SECONDS, BODY_BYTES_PER_SECOND = 20.0, 1_000

#: Seconds for which what a refused client still sends is read and thrown away.
LINGERING_SECONDS = 2.0


class RefusedError(Exception):
    """The request is refused before the application sees it."""


class Connection(HttpToolsProtocol):
    """Uvicorn's connection, with limits. What is refused is answered with a problem (RFC 9457) and closed."""

    header_seconds: ClassVar[float] = HEADER_SECONDS
    body_seconds: ClassVar[float] = BODY_SECONDS
    connections_at_most: ClassVar[int] = CONNECTIONS

    _refusal: tuple[int, str, str] | None = None
    _timer: asyncio.TimerHandle | None = None
    _in_headers = True
    _received = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.connections_at_most:
            self._refuse(503, "overloaded", "Too many clients are connected; try again in a second.")
        else:
            self._start_timer(self.header_seconds, self._headers_too_slow)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count what arrives, and pass it on."""
        if self._refusal is not None:
            return
        self._received += len(data)
        super().data_received(data)
        if self._in_headers and self._received > HEADER_BYTES and self._refusal is None:
            self._refuse(431, "headers_too_large", f"The headers have more than {HEADER_BYTES} bytes.")

    def on_message_begin(self) -> None:
        """A request begins; several can be in one connection."""
        super().on_message_begin()
        self._in_headers = True
        self._start_timer(self.header_seconds, self._headers_too_slow)

    def on_headers_complete(self) -> None:
        """Refuse a request with too many or too long headers, and begin to watch its body."""
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if len(self.headers) > HEADERS or size > HEADER_BYTES:
            most = f"at most {HEADERS} headers with {HEADER_BYTES} bytes are accepted."
            self._refusal = 431, "headers_too_large", f"There are {len(self.headers)} headers with {size} bytes; {most}"
            raise RefusedError
        self._in_headers, self._received = False, 0
        self._start_timer(self.body_seconds, self._body_too_slow, self.body_seconds)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The request has arrived whole."""
        self._stop_timer()
        self._in_headers, self._received = True, 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 -- uvicorn's words for it
        """Answer what is refused or no HTTP."""
        status, code, detail = self._refusal or (400, "malformed", "This is no HTTP request.")
        self._refuse(status, code, detail)

    def _headers_too_slow(self) -> None:
        if self._received:
            self._refuse(408, "too_slow", f"The headers did not arrive within {self.header_seconds:g} s.")
        else:
            self.transport.close()

    def _body_too_slow(self, seconds: float) -> None:
        """Refuse a body that arrives too slowly, unless the service is the one that does not read."""
        if self._received < BODY_BYTES_PER_SECOND * seconds and not self.flow.read_paused:
            self._refuse(408, "too_slow", f"The body arrived at less than {BODY_BYTES_PER_SECOND} bytes per second.")
        else:
            self._start_timer(self.body_seconds, self._body_too_slow, seconds + self.body_seconds)

    def _start_timer(self, seconds: float, callback: Any, *arguments: float) -> None:  # noqa: ANN401 -- a method
        self._stop_timer()
        self._timer = self.loop.call_later(seconds, callback, *arguments)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, status: int, code: str, detail: str) -> None:
        self._stop_timer()
        self._refusal = status, code, detail
        title = HTTPStatus(status).phrase
        body = json.dumps({"type": "about:blank", "title": title, "status": status, "code": code, "detail": detail})
        head = [
            f"HTTP/1.1 {status} {title}",
            "content-type: application/problem+json",
            f"content-length: {len(body)}",
            "connection: close",
            *(["retry-after: 1"] if status == HTTPStatus.SERVICE_UNAVAILABLE else []),
        ]
        self.transport.write("\r\n".join([*head, "", body]).encode())
        if status == HTTPStatus.SERVICE_UNAVAILABLE:  # there are too many connections already
            self.transport.close()
            return
        self.transport.write_eof()
        # A connection that is closed while the client still sends is reset, and the client may never read the answer.
        self._start_timer(LINGERING_SECONDS, self.transport.close)
