"""The middlewares of the application; `middlewares` explains their order."""

import asyncio
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from http.client import NO_CONTENT, NOT_FOUND
from uuid import uuid4

import structlog
from fastapi import Request
from opentelemetry.trace import SpanKind, Status, StatusCode, Tracer
from prometheus_client import CollectorRegistry, Counter, Histogram
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipResponder, IdentityResponder
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.platform.http.negotiation import preferred
from app.platform.http.refusals import failed, interrupted, named_method, refused_by_framework
from app.platform.http.request_scope import REQUEST_ID, answer_headers
from app.platform.log import bound
from app.platform.telemetry import context_of, span
from app.settings import Settings


class HttpMiddleware(ABC):
    """An ASGI middleware for HTTP requests. Other events, such as the application's start, pass through."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request, or pass on any other event."""
        await (self.answer if scope["type"] == "http" else self._app)(scope, receive, send)

    @abstractmethod
    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request, most often by passing it on."""


REQUEST_ID_HEADER = "X-Request-ID"

#: The default headers of every response. Responses are data: no browser may run, frame or embed them (Content Security
#: Policy Level 3; Fetch, section 3.7), and by default none is cached.
SAFE_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")


class AnswerHeaders(HttpMiddleware):
    """Sends the headers that were appended to `answer_headers(request)` before the response begins."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on the request."""
        further = answer_headers(HTTPConnection(scope))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in further:
                    headers.append(name, value)
            await send(message)

        await self._app(scope, receive, send_with_headers)


class RequestIds(HttpMiddleware):
    """Gives a request its id, the client's or a random one, for its response and all log lines."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on the request."""
        # An id is returned in a header and logged, so it must need no quoting.
        given = Headers(scope=scope).getlist(REQUEST_ID_HEADER)
        is_fit = len(given) == 1 and _REQUEST_ID.fullmatch(given[0]) is not None
        scope[REQUEST_ID] = given[0] if is_fit else uuid4().hex
        answer_headers(HTTPConnection(scope)).append((REQUEST_ID_HEADER, scope[REQUEST_ID]))
        with bound(request_id=scope[REQUEST_ID]):
            await self._app(scope, receive, send)


_SERVER_ERROR = 500


class RequestSpan(HttpMiddleware):
    """Makes a span for every request, in the trace of the client's `traceparent`.

    OpenTelemetry's own instrumentation would put paths, query strings and addresses of clients into the span.
    """

    def __init__(self, app: ASGIApp, tracer: Tracer) -> None:
        super().__init__(app)
        self._tracer = tracer

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on the request within its span."""
        method, parent = named_method(scope), context_of(Headers(scope=scope).get("traceparent"))
        with span(self._tracer, method, SpanKind.SERVER, parent) as current:

            async def note_status(message: Message) -> None:
                if message["type"] == "http.response.start":
                    # Those OpenTelemetry attributes that reveal nothing but the route, which names the span.
                    attributes = {"http.request.method": method, "http.response.status_code": message["status"]}
                    route = getattr(scope.get("route"), "path", None)
                    if route is not None:
                        current.update_name(f"{method} {route}")
                        attributes["http.route"] = route
                    current.set_attributes(attributes)
                    if message["status"] >= _SERVER_ERROR:
                        current.set_status(Status(StatusCode.ERROR))
                await send(message)

            await self._app(scope, receive, note_status)


_log = structlog.get_logger(__name__)

#: Routes that operators' programs call every few seconds are logged at level DEBUG.
_PROBES = frozenset({"/healthz", "/readyz", "/metrics"})


class AccessLog(HttpMiddleware):
    """Logs the outcome of every request with its route, never its path, its query or its caller."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on the request and log its outcome."""
        method, start, status, bytes_in, bytes_out = named_method(scope), time.perf_counter(), 500, 0, 0

        async def receive_counted() -> Message:
            nonlocal bytes_in
            message = await receive()
            bytes_in += len(message.get("body", b""))
            return message

        async def send_counted(message: Message) -> None:
            nonlocal status, bytes_out
            if message["type"] == "http.response.start":
                status = message["status"]
            bytes_out += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive_counted, send_counted)
        finally:
            # Paths without a route share one name, since they could contain anything.
            route = getattr(scope.get("route"), "path", "unmatched")
            (_log.debug if route in _PROBES else _log.info)(
                "request",
                method=method,
                route=route,
                status=status,
                ms=round((time.perf_counter() - start) * 1e3, 1),
                bytes_in=bytes_in,
                bytes_out=bytes_out,
            )


class SafeHeaders:
    """Adds the default headers, unless a route has set its own.

    Args:
        hsts_seconds: how long browsers must use HTTPS only (RFC 6797); None omits the header.
    """

    def __init__(self, app: ASGIApp, hsts_seconds: int | None = None) -> None:
        self._app = app
        hsts = {} if hsts_seconds is None else {"Strict-Transport-Security": f"max-age={hsts_seconds}"}
        self._headers = SAFE_HEADERS | hsts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on the request."""

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_safely)


class HeadMethod(HttpMiddleware):
    """Responds to HEAD as to GET, without the body."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on the request, HEAD as GET."""
        if scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def send_without_body(message: Message) -> None:
            scope["method"] = "HEAD"  # the route is known; for GET, the server would expect the declared body
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        scope["method"] = "GET"  # in place, so that the outer middlewares see the route
        await self._app(scope, receive, send_without_body)


class Metrics(HttpMiddleware):
    """Counts and times requests by the template of their route."""

    def __init__(self, app: ASGIApp, registry: CollectorRegistry) -> None:
        super().__init__(app)
        labels = ("method", "route", "status")
        self._requests = Counter("aegis_http_requests", "Requests answered", labels, registry=registry)
        self._seconds = Histogram("aegis_http_request_seconds", "Time to answer", labels[:2], registry=registry)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on the request and record its outcome."""
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
            # Paths without a route share one name, since callers can invent any number.
            route = getattr(scope.get("route"), "path", "unmatched")
            method = named_method(scope)
            self._requests.labels(method, route, str(status)).inc()
            self._seconds.labels(method, route).observe(time.perf_counter() - start)


_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")

#: Headers that a page may send, besides the safelisted ones.
_SENT = (
    *("Authorization", "Content-Encoding", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", "Prefer"),
    REQUEST_ID_HEADER,
)

#: Response headers that a page may read, besides the safelisted ones.
_READ = (
    *(
        "Aegis-Key-Expires",
        "Deprecation",
        "ETag",
        "Idempotency-Replayed",
        "Link",
        "Location",
        "Preference-Applied",
        "Sunset",
    ),
    *("RateLimit", "RateLimit-Policy", "Retry-After", "WWW-Authenticate", REQUEST_ID_HEADER),
)


class CrossOrigin(CORSMiddleware):
    """Lets pages of the given origins call the API, with a key in `Authorization` and never with cookies.

    The response to a preflight omits what a page may not do, so its browser refuses it. It has no body, like that to
    any other OPTIONS.
    """

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        super().__init__(app, origins, allow_methods=_METHODS, allow_headers=_SENT, expose_headers=_READ)

    def preflight_response(self, request_headers: Headers) -> Response:
        """The response to a preflight."""
        answer = super().preflight_response(request_headers)
        about_origin = {name: value for name, value in answer.headers.items() if not name.startswith("content-")}
        return Response(status_code=NO_CONTENT, headers=about_origin)


class Failures(HttpMiddleware):
    """Responds to a request that fails before its response has begun.

    The framework would respond outside all middlewares, without their headers.
    """

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on the request."""
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


class DataspacePaths(HttpMiddleware):
    """Reads a path of the Dataspace Protocol without a slash at its end, with which some clients resolve addresses."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on the request."""
        if scope["path"].startswith("/dsp/"):
            scope["path"] = scope["path"].rstrip("/")
        await self._app(scope, receive, send)


class MetricsPort(HttpMiddleware):
    """Serves `/metrics` and nothing else on the metrics port of the application's state."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on the request if it came to the right port; otherwise respond 404."""
        came_there = scope["server"][1] == scope["app"].state.metrics_port
        if came_there == (scope["path"] == "/metrics"):
            await self._app(scope, receive, send)
        else:
            await refused_by_framework(Request(scope), HTTPException(NOT_FOUND))(scope, receive, send)


#: Compression hardly shortens smaller responses.
SHORTEST = 1_000

# Higher levels save a few percent of long responses and take twice as long.
_LEVEL = 2


class Compression(HttpMiddleware):
    """Compresses responses with Starlette if the client prefers that, and marks the coding in the entity tag.

    The length of a compressed response can disclose a secret in it to an observer whose guesses it repeats (the BREACH
    attack). Programs send keys, which no page can make a browser do. Browsers send the console's cookie when a foreign
    page links to it, so the token of its forms is masked differently every time, and a new key is shown only in the
    response to such a form.
    """

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on the request."""

        async def send_tagged(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if message["status"] == 304:  # noqa: PLR2004 -- it names what the whole answer depends on
                    headers.add_vary_header("Accept-Encoding")
                if headers.get("content-encoding") == "gzip" and "etag" in headers:
                    headers["ETag"] = f'{headers["ETag"][:-1]}+gzip"'
            await send(message)

        # Starlette's own middleware reads `gzip;q=0` as acceptance.
        accepted = Headers(scope=scope).get("accept-encoding")
        if preferred(accepted, ("gzip", "identity")) == "gzip":
            await GZipResponder(self._app, SHORTEST, _LEVEL)(scope, receive, send_tagged)
        else:
            await IdentityResponder(self._app, SHORTEST)(scope, receive, send_tagged)


def middlewares(settings: Settings, registry: CollectorRegistry, tracer: Tracer) -> list[Middleware]:
    """All middlewares, the outermost first.

    * * `AnswerHeaders` is outside all that append to them.
    * * `RequestIds` is outside all that log.
    * * `RequestSpan` covers all work for a request.
    * * `AccessLog` logs what the client receives, with the request's id.
    * * `SafeHeaders` sees every response as it is sent, except what `AnswerHeaders` adds.
    * * `HeadMethod` is outside `Metrics`, which needs the route of the request as GET.
    * * `Metrics` counts every response, problems included.
    * * `CrossOrigin` lets a page read problems, too. It is omitted without origins; a preflight is then like any other
      OPTIONS.
    * * `Failures` is inside all of these, so that its problems have their headers and are counted.
    * * `MetricsPort`, for metrics on a port of their own, is inside `Metrics`, which counts what it refuses.
    * * `DataspacePaths` is inside `AccessLog` and `Metrics`, which name routes and no paths.
    * * `Compression` is inside `Failures`, like everything that may fail or take long.
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
        Middleware(DataspacePaths),
        Middleware(Compression),
    ]
