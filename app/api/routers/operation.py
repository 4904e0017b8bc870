"""Probes and metrics for operators. Requests are counted by route, never by caller or content."""

import time

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.dependencies import StateDependency
from app.api.describe import problems

router = APIRouter(tags=["operation"])


class Metrics:
    """ASGI middleware that counts and times requests by the template of their route."""

    def __init__(self, app: ASGIApp, registry: CollectorRegistry) -> None:
        self._app = app
        labels = ("method", "route", "status")
        self._requests = Counter("aegis_http_requests", "Requests answered", labels, registry=registry)
        self._seconds = Histogram("aegis_http_request_seconds", "Time to answer", labels[:2], registry=registry)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and record its outcome."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
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
            self._requests.labels(scope["method"], route, str(status)).inc()
            self._seconds.labels(scope["method"], route).observe(time.perf_counter() - start)


@router.get(
    "/healthz",
    summary="Is the process alive?",
    responses={200: {"description": "Alive", "content": {"application/json": {"example": {"status": "alive"}}}}},
)
async def read_health() -> dict[str, str]:
    """Answers as long as the process runs; does not use the database."""
    return {"status": "alive"}


@router.get(
    "/readyz",
    summary="Can it answer?",
    responses={
        200: {"description": "Ready", "content": {"application/json": {"example": {"status": "ready"}}}},
        **problems(503),
    },
)
async def read_readiness(state: StateDependency) -> dict[str, str]:
    """Answers 200 if the database can be reached, otherwise 503."""
    await state.database.ping()
    return {"status": "ready"}


_EXAMPLE = 'aegis_http_requests_total{method="POST",route="/v1/entries",status="201"} 3.0'


@router.get(
    "/metrics",
    summary="Metrics for Prometheus",
    response_class=Response,
    responses={200: {"description": "The metrics", "content": {"text/plain": {"example": _EXAMPLE}}}},
)
async def read_metrics(request: Request) -> Response:
    """Returns the number of requests by method, route and status, and their durations by method and route."""
    return Response(generate_latest(request.app.state.registry), media_type=CONTENT_TYPE_LATEST)
