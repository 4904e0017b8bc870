"""Spans of requests, where the traces of jobs begin."""

from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.platform.http.methods import named_method
from app.platform.http.middleware.http_middleware import HttpMiddleware
from app.platform.telemetry import context_of, span

_SERVER_ERROR = 500


class RequestSpan(HttpMiddleware):
    """Makes a span of each request, in the trace that the client's `traceparent` names.

    OpenTelemetry's own instrumentation would put paths, query strings and addresses of clients into the span.
    """

    def __init__(self, app: ASGIApp, tracer: Tracer) -> None:
        super().__init__(app)
        self._tracer = tracer

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on within its span."""
        method, parent = named_method(scope), context_of(Headers(scope=scope).get("traceparent"))
        with span(self._tracer, method, SpanKind.SERVER, parent) as current:

            async def note_status(message: Message) -> None:
                if message["type"] == "http.response.start":
                    _note(current, method, scope, message["status"])
                await send(message)

            await self._app(scope, receive, note_status)


def _note(current: Span, method: str, scope: Scope, status: int) -> None:
    """Name the span after the route, and give it OpenTelemetry's attributes of requests that say nothing else."""
    attributes: dict[str, str | int] = {"http.request.method": method, "http.response.status_code": status}
    route = getattr(scope.get("route"), "path", None)
    if route is not None:
        current.update_name(f"{method} {route}")
        attributes["http.route"] = route
    current.set_attributes(attributes)
    if status >= _SERVER_ERROR:
        current.set_status(Status(StatusCode.ERROR))
