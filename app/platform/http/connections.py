"""Connections of clients: how many there may be, how long their headers may be, and how slowly they may send."""

import asyncio
from functools import partial
from http import HTTPStatus
from typing import Any, ClassVar

from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from app.platform.http.connection_refusals import refusal, send_failure
from app.platform.http.giving_way import Line

#: The most connections at a time: fewer than the 1,024 files that a process may usually have open.
CONNECTIONS = 800

#: The most bytes and the most headers of a request, its first line included.
HEADER_BYTES, HEADERS = 64 * 1024, 100

#: Seconds within which a request's headers must have arrived.
HEADER_SECONDS = 20.0

#: After as many seconds of a body, at least so many bytes of it must have arrived in each second, on average. Time in
#: which the service did not read does not count.
BODY_SECONDS, BYTES_PER_SECOND = 20.0, 1_000

#: Within as many seconds, a client that does not read everything must read as many bytes in each second.
WRITE_SECONDS = 30.0

#: Seconds for which what a client still sends after its answer is read and thrown away.
LINGERING_SECONDS = 5.0

_TOO_MANY = "Too many clients are connected; try again in a second."


class RefusedError(Exception):
    """The request is refused before the application sees it."""


class Connection(HttpToolsProtocol):
    """Uvicorn's connection, with limits. What is refused is answered with a problem (RFC 9457) and closed."""

    header_seconds: ClassVar[float] = HEADER_SECONDS
    body_seconds: ClassVar[float] = BODY_SECONDS
    write_seconds: ClassVar[float] = WRITE_SECONDS
    lingering_seconds: ClassVar[float] = LINGERING_SECONDS
    connections_at_most: ClassVar[int] = CONNECTIONS

    _refusal: tuple[int, str, str] | None = None
    _timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle | None = None
    _in_headers = True
    _outside_body = 0  # bytes since the last part of a body: headers, sizes of chunks, trailers
    _body_bytes = 0
    _was_paused = False
    _line: Line

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection. If there are too many, the one that has waited longest for its client ends."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # so that `pause_writing` tells of everything that is not read
        self._line = Line.of(self.server_state)
        if len(self.connections) > self.connections_at_most and not self._line.end_longest():
            self._refuse(503, "overloaded", _TOO_MANY)
        else:
            self._line.join(self)
            self._start_timer(self.header_seconds, self._headers_too_slow)

    def may_give_way(self) -> bool:
        """Whether this connection waits for its client: for a request, for the first byte of its body, or for the rest
        of one that is answered already.
        """
        if self._refusal is not None or self._in_headers or not self._is_answering():
            return True
        waits_for_service = self.flow.read_paused or self.cycle.waiting_for_100_continue or bool(self.pipeline)
        return not waits_for_service and not self.cycle.response_started

    def give_way(self) -> None:
        """End this connection, so that another client can be served. Who has begun a request is told why."""
        if self._refusal is not None or not (self._in_headers or self._is_answering()):
            self.transport.abort()  # the client has had its answer
        elif self._outside_body or not self._in_headers:
            self._refuse(503, "overloaded", _TOO_MANY)
        else:
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._line.leave(self)
        self._stop_timer()
        self._stop_write_timer()
        super().connection_lost(exc)

    def eof_received(self) -> bool:  # type: ignore[override]
        """Answer a client that sends no more, since it may still read; whether the connection stays open for that."""
        is_cut_off = self._outside_body > 0 if self._in_headers else self._is_answering()
        if self._is_answering():
            self.cycle.keep_alive = False
        if is_cut_off and self._refusal is None:
            self._refuse(400, "malformed", "The connection ended before the request did.")
        return self._in_headers and self._is_answering()

    def data_received(self, data: bytes) -> None:
        """Count what arrives, and pass it on."""
        if self._refusal is not None:
            return
        self._outside_body += len(data)
        super().data_received(data)
        self._look_outside_body()

    def _look_outside_body(self) -> None:
        if self._refusal is not None or self.transport.is_closing():
            return
        if self._outside_body > HEADER_BYTES:
            self._refuse(431, "headers_too_large", f"The headers have more than {HEADER_BYTES} bytes.")
        elif self._in_headers and self._outside_body and self._timer is None:  # an empty line before a request
            self._start_timer(self.header_seconds, self._headers_too_slow)

    def on_message_begin(self) -> None:
        """A request begins; several can be in one connection."""
        super().on_message_begin()
        self._in_headers = True
        self._outside_body = max(1, self._outside_body)  # its first bytes may have come with the request before
        self._start_timer(self.header_seconds, self._headers_too_slow)

    def on_headers_complete(self) -> None:
        """Refuse a request with too many or too long headers, and begin to watch its body."""
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if len(self.headers) > HEADERS or size > HEADER_BYTES:
            most = f"at most {HEADERS} headers with {HEADER_BYTES} bytes are accepted."
            self._refusal = 431, "headers_too_large", f"There are {len(self.headers)} headers with {size} bytes; {most}"
            raise RefusedError
        if sum(name == b"host" for name, _ in self.headers) != 1 and self.parser.get_http_version() == "1.1":
            self._refusal = 400, "malformed", "Send one Host header (RFC 9112, section 3.2)."
            raise RefusedError
        self._in_headers, self._outside_body, self._body_bytes = False, 0, 0
        self._line.join(self)
        self._start_timer(self.body_seconds, self._body_too_slow, self.body_seconds)
        super().on_headers_complete()
        self._was_paused = self.flow.read_paused

    def on_body(self, body: bytes) -> None:
        """A part of a body has arrived."""
        self._outside_body = 0
        self._body_bytes += len(body)
        if self._is_answering():
            self._line.leave(self)
        super().on_body(body)
        self._was_paused |= self.flow.read_paused

    def on_message_complete(self) -> None:
        """The request has arrived whole."""
        self._stop_timer()
        self._in_headers, self._outside_body = True, 0
        super().on_message_complete()
        if self._is_answering():
            self._line.leave(self)
        else:  # the answer was quicker
            self._line.join(self)
            self._start_timer(self.header_seconds, self._headers_too_slow)

    def on_response_complete(self) -> None:
        """Wait a little for the rest of a request that is answered already, and then break the connection."""
        super().on_response_complete()
        if self._is_answering() or self.transport.is_closing():
            return
        self._line.join(self)
        if not self._in_headers:
            self._start_timer(self.lingering_seconds, self.transport.abort)

    def pause_writing(self) -> None:
        """The client does not read as fast as the service writes."""
        super().pause_writing()
        self._watch_writing()

    def resume_writing(self) -> None:
        """The client has read everything."""
        super().resume_writing()
        self._stop_write_timer()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 -- uvicorn's words for it
        """Answer what is refused or no HTTP."""
        status, code, detail = self._refusal or (400, "malformed", "This is no HTTP request.")
        self._refuse(status, code, detail)

    def _unsupported_upgrade_warning(self) -> None:
        """Say nothing: a client may offer another protocol, and goes on with this one."""

    def _headers_too_slow(self) -> None:
        if self._is_answering():
            self._start_timer(self.header_seconds, self._headers_too_slow)
        elif self._outside_body:
            self._refuse(408, "too_slow", f"The headers did not arrive within {self.header_seconds:g} s.")
        else:
            self.transport.close()

    def _body_too_slow(self, seconds: float) -> None:
        """Refuse a body that arrives too slowly, unless the service is the one that does not read."""
        self._was_paused |= self.flow.read_paused or self.cycle.waiting_for_100_continue
        if not self._was_paused and self._body_bytes < BYTES_PER_SECOND * seconds:
            self._refuse(408, "too_slow", f"The body arrived at less than {BYTES_PER_SECOND} bytes per second.")
            return
        further = 0.0 if self._was_paused else self.body_seconds
        self._was_paused = False
        self._start_timer(self.body_seconds, self._body_too_slow, seconds + further)

    def _watch_writing(self, before: int | None = None) -> None:
        """Break the connection if the client has hardly read anything since `before` bytes were left."""
        left = self.transport.get_write_buffer_size()
        if before is not None and left > before - BYTES_PER_SECOND * self.write_seconds:
            self.transport.abort()
        else:
            self._stop_write_timer()
            self._write_timer = self.loop.call_later(self.write_seconds, self._watch_writing, left)

    def _stop_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def _start_timer(self, seconds: float, callback: Any, *arguments: float) -> None:  # noqa: ANN401 -- a method
        self._stop_timer()
        self._timer = self.loop.call_later(seconds, callback, *arguments)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _is_answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle  # None before the first request
        return cycle is not None and not cycle.response_complete

    def _refuse(self, status: int, code: str, detail: str) -> None:
        self._stop_timer()
        self._refusal = status, code, detail
        if not self._is_answering():
            self._answer(status, code, detail)
        elif self._in_headers:
            self.cycle.keep_alive = False  # earlier requests get their answers, and then the connection is closed
        elif self.cycle.response_started or self.pipeline:
            self.transport.abort()
        else:
            self.cycle.disconnected = True  # the application gets no more of it, and nothing that it says is sent
            self.cycle.message_event.set()
            self._answer(status, code, detail)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        """Begin to answer a request. A defect that the application does not answer itself becomes a problem, too."""
        cycle.send_500_response = partial(send_failure, cycle)  # type: ignore[method-assign]
        super()._start_asgi_task(cycle, app)

    def _answer(self, status: int, code: str, detail: str) -> None:
        self.transport.write(refusal(status, code, detail, self.headers or ()))
        if status == HTTPStatus.SERVICE_UNAVAILABLE:  # there are too many connections already
            self.transport.close()
            return
        self.transport.write_eof()
        # A connection that is closed while the client still sends is reset, and the client may never read the answer.
        self._line.join(self)
        self._start_timer(self.lingering_seconds, self.transport.abort)
