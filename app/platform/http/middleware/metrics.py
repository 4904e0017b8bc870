"""Metrics of requests: by route, never by caller or content."""

import time

from prometheus_client import CollectorRegistry, Counter, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.platform.http.methods import named_method
from app.platform.http.middleware.http_middleware import HttpMiddleware


class Metrics(HttpMiddleware):
    """ASGI middleware that counts and times requests by the template of their route."""

    def __init__(self, app: ASGIApp, registry: CollectorRegistry) -> None:
        super().__init__(app)
        labels = ("method", "route", "status")
        self._requests = Counter("aegis_http_requests", "Requests answered", labels, registry=registry)
        self._seconds = Histogram("aegis_http_request_seconds", "Time to answer", labels[:2], registry=registry)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and record its outcome."""
        status = 500
        start = time.perf_counter()

        async def note_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, note_status)
        finally:
            # Paths that match no route share one name, since callers can invent any number of them.
            route = getattr(scope.get("route"), "path", "unmatched")
            method = named_method(scope)
            self._requests.labels(method, route, str(status)).inc()
            self._seconds.labels(method, route).observe(time.perf_counter() - start)
