"""Probes and metrics for operators."""

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from app.api.dependencies import StateDependency
from app.api.describe import problems

router = APIRouter(tags=["operation"])


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
