"""A line of the log for each request."""

import time

import structlog
from starlette.types import Message, Receive, Scope, Send

from app.platform.http.methods import named_method
from app.platform.http.middleware.http_middleware import HttpMiddleware

_log = structlog.get_logger(__name__)

#: What operators' programs ask every few seconds is logged only at the level DEBUG.
_PROBES = frozenset({"/healthz", "/readyz", "/metrics"})


class AccessLog(HttpMiddleware):
    """Logs how each request ended: its route, never its path or query, and nothing of callers."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and log how it ended."""
        seen = _Seen(scope, receive, send)
        try:
            await self._app(scope, seen.receive, seen.send)
        finally:
            seen.log()


class _Seen:
    """A request as it is seen from outside."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope, self._receive, self._send = scope, receive, send
        self._method = named_method(scope)
        self._start = time.perf_counter()
        self._status = 500
        self._bytes_in = self._bytes_out = 0

    async def receive(self) -> Message:
        message = await self._receive()
        self._bytes_in += len(message.get("body", b""))
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
        self._bytes_out += len(message.get("body", b""))
        await self._send(message)

    def log(self) -> None:
        # Paths that match no route share one name: they could contain anything.
        route = getattr(self._scope.get("route"), "path", "unmatched")
        (_log.debug if route in _PROBES else _log.info)(
            "request",
            method=self._method,
            route=route,
            status=self._status,
            ms=round((time.perf_counter() - self._start) * 1e3, 1),
            bytes_in=self._bytes_in,
            bytes_out=self._bytes_out,
        )
