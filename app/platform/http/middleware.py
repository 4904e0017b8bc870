"""The middlewares of the application; `middlewares` says why they have their order."""

import asyncio
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from http.client import NO_CONTENT, NOT_FOUND
from uuid import uuid4

import structlog
from fastapi import Request
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer
from prometheus_client import CollectorRegistry, Counter, Histogram
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipResponder, IdentityResponder
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.platform.http.methods import named_method
from app.platform.http.negotiation import preferred
from app.platform.http.refusals import failed, interrupted, refused_by_framework
from app.platform.http.request_scope import REQUEST_ID, answer_headers
from app.platform.log import bound
from app.platform.telemetry import context_of, span
from app.settings import Settings


class HttpMiddleware(ABC):
    """An ASGI middleware for HTTP requests. All else, such as the start of the application, passes it by."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass on what is none."""
        await (self.answer if scope["type"] == "http" else self._app)(scope, receive, send)

    @abstractmethod
    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, most often by passing it on."""


REQUEST_ID_HEADER = "X-Request-ID"

#: Headers of every answer that has no others of these names. Answers are data: no browser may run, frame or embed them
#: (Content Security Policy Level 3; Fetch, section 3.7), and unless an answer says how long it holds, none is kept.
SAFE_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")


class AnswerHeaders(HttpMiddleware):
    """Sends what was appended to `answer_headers(request)` until the answer begins."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        further = answer_headers(HTTPConnection(scope))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in further:
                    headers.append(name, value)
            await send(message)

        await self._app(scope, receive, send_with_headers)


class RequestIds(HttpMiddleware):
    """Gives each request an id, its client's or a drawn one, for its answer and every line that is logged meanwhile."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        # An id comes back in headers and stands in the log, so it must be one that needs no quotes there.
        given = Headers(scope=scope).getlist(REQUEST_ID_HEADER)
        is_fit = len(given) == 1 and _REQUEST_ID.fullmatch(given[0]) is not None
        scope[REQUEST_ID] = given[0] if is_fit else uuid4().hex
        answer_headers(HTTPConnection(scope)).append((REQUEST_ID_HEADER, scope[REQUEST_ID]))
        with bound(request_id=scope[REQUEST_ID]):
            await self._app(scope, receive, send)


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


class SafeHeaders:
    """Adds the headers that every answer has, unless a route has set its own.

    Args:
        app: the application.
        hsts_seconds: for how long browsers use HTTPS alone (RFC 6797); None does not say so.
    """

    def __init__(self, app: ASGIApp, hsts_seconds: int | None = None) -> None:
        self._app = app
        hsts = {} if hsts_seconds is None else {"Strict-Transport-Security": f"max-age={hsts_seconds}"}
        self._headers = SAFE_HEADERS | hsts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_safely)


class HeadMethod(HttpMiddleware):
    """Answers HEAD as GET, without the body."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, HEAD as GET."""
        if scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def send_without_body(message: Message) -> None:
            scope["method"] = "HEAD"  # by then the route is found; the server wants a body as long as it says after GET
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        scope["method"] = "GET"  # in place, so that those outside learn the route that is found
        await self._app(scope, receive, send_without_body)


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


_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")

#: Headers that a page may send, besides those that every page may send.
_SENT = (
    *("Authorization", "Content-Encoding", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", "Prefer"),
    REQUEST_ID_HEADER,
)

#: Headers of an answer that a page may read, besides those that every page may read.
_READ = (
    *("Aegis-Key-Expires", "ETag", "Idempotency-Replayed", "Link", "Location", "Preference-Applied"),
    *("RateLimit", "RateLimit-Policy", "Retry-After", "WWW-Authenticate", REQUEST_ID_HEADER),
)


class CrossOrigin(CORSMiddleware):
    """Lets pages of the named origins call the API, with a key in `Authorization` and never with cookies.

    What a page may not do is missing in the answer to its preflight, and its browser refuses it. That answer has no
    body, as has that to any other OPTIONS.

    Args:
        app: the application.
        origins: the origins, as browsers send them.
    """

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        super().__init__(app, origins, allow_methods=_METHODS, allow_headers=_SENT, expose_headers=_READ)

    def preflight_response(self, request_headers: Headers) -> Response:
        """The answer to a preflight."""
        answer = super().preflight_response(request_headers)
        about_origin = {name: value for name, value in answer.headers.items() if not name.startswith("content-")}
        return Response(status_code=NO_CONTENT, headers=about_origin)


class Failures(HttpMiddleware):
    """Answers a request whose answer fails before it has begun.

    The framework would answer a defect outside of all middlewares, so that this answer alone had none of their headers.
    """

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        has_begun = False

        async def note_begin(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, note_begin)
        except asyncio.CancelledError:
            if has_begun:
                raise
            await interrupted(Request(scope))(scope, receive, send)
        except Exception as error:
            if has_begun:
                raise
            await failed(Request(scope), error)(scope, receive, send)


class MetricsPort(HttpMiddleware):
    """Answers `/metrics`, and nothing else, at the port that the application's state names."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on if it came to the right port; otherwise there is no such path."""
        came_there = scope["server"][1] == scope["app"].state.metrics_port
        if came_there == (scope["path"] == "/metrics"):
            await self._app(scope, receive, send)
        else:
            await refused_by_framework(Request(scope), HTTPException(NOT_FOUND))(scope, receive, send)


#: Shorter answers are hardly any shorter when they are compressed.
SHORTEST = 1_000

# Of long answers, the next levels save a few percent and take twice as long.
_LEVEL = 2


class Compression(HttpMiddleware):
    """Compresses answers as Starlette does, if that is what the client prefers, and names what was sent in its tag.

    Compression can tell what is secret in an answer to whoever sees its length and has a part of it repeat their
    guesses (the BREACH attack). Programs send keys, which no page can make a browser do. Browsers send the console's
    cookie when a page elsewhere leads to it, so the token of its forms is masked anew each time, and a new key is shown
    only in the answer to such a form.
    """

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""

        async def send_tagged(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if message["status"] == 304:  # noqa: PLR2004 -- it names what the whole answer depends on
                    headers.add_vary_header("Accept-Encoding")
                if headers.get("content-encoding") == "gzip" and "etag" in headers:
                    headers["ETag"] = f'{headers["ETag"][:-1]}+gzip"'
            await send(message)

        # Starlette's own middleware takes `gzip;q=0` for a wish.
        accepted = Headers(scope=scope).get("accept-encoding")
        if preferred(accepted, ("gzip", "identity")) == "gzip":
            await GZipResponder(self._app, SHORTEST, _LEVEL)(scope, receive, send_tagged)
        else:
            await IdentityResponder(self._app, SHORTEST)(scope, receive, send_tagged)


def middlewares(settings: Settings, registry: CollectorRegistry, tracer: Tracer) -> list[Middleware]:
    """All of them, the outermost first.

    * `AnswerHeaders` is outside of all that append to them.
    * `RequestIds` is outside of all that log.
    * `RequestSpan` covers all that is done for a request.
    * `AccessLog` logs what the client is sent, with the request's id.
    * `SafeHeaders` sees every answer as it is sent, but for what `AnswerHeaders` adds.
    * `HeadMethod` is outside of `Metrics`, which needs the route that was found for the request as GET.
    * `Metrics` counts every answer, problems included.
    * `CrossOrigin` lets a page read problems, too. Without origins it is left out, and a preflight is answered as any
      other OPTIONS.
    * `Failures` is inside of all of these, so that its problems have their headers and are counted.
    * `MetricsPort`, for metrics that have a port of their own, is inside of `Metrics`, which counts what it refuses.
    * `Compression` is inside of `Failures`, as all that may fail or take long.
    """
    origins = settings.cors_origins
    return [
        Middleware(AnswerHeaders),
        Middleware(RequestIds),
        Middleware(RequestSpan, tracer=tracer),
        Middleware(AccessLog),
        Middleware(SafeHeaders, hsts_seconds=settings.hsts_seconds),
        Middleware(HeadMethod),
        Middleware(Metrics, registry=registry),
        *([Middleware(CrossOrigin, origins=origins)] if origins else []),
        Middleware(Failures),
        *([Middleware(MetricsPort)] if settings.metrics_port is not None else []),
        Middleware(Compression),
    ]
