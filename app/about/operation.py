"""Probes and metrics for operators."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from app.edge.state import StateDependency
from app.platform.build import build_version
from app.platform.errors import DatabaseUnavailableError, InterruptedWorkError, NoWorkerError, SchemaMismatchError
from app.platform.http.operations import problems

router = APIRouter(tags=["operation"])

#: If the metrics have a port of their own, it serves nothing else, and the other port serves no metrics.
_AT_OTHER_PORT = problems(404)

_ALIVE = {"status": "alive", "version": "0.1.0"}


@router.get(
    "/healthz",
    summary="Is the process alive?",
    responses={
        200: {"description": "Alive", "content": {"application/json": {"example": _ALIVE}}},
        **_AT_OTHER_PORT,
    },
)
async def read_health() -> dict[str, str]:
    """Returns 200 and the version while the process runs; does not use the database."""
    return {"status": "alive", "version": build_version()}


_READY = {"status": "ready", "workers": 1}


@router.get(
    "/readyz",
    summary="Can it answer?",
    responses={
        200: {"description": "Ready", "content": {"application/json": {"example": _READY}}},
        **problems(404, 422, 503),
    },
)
async def read_readiness(
    state: StateDependency,
    require: Annotated[
        Literal["workers"] | None, Query(description="`workers`: without one, the answer is 503 instead of 200")
    ] = None,
) -> dict[str, str | int]:
    """Returns 200 if the database responds in time and this version works with its schema; otherwise, and once the
    process is stopping, 503. Without a worker, `status` is `degraded`: everything works, but new questions wait.
    """
    if state.ending.is_set():
        raise InterruptedWorkError("This process is stopping; send requests to another one.")
    pulse = await state.probe.pulse()
    if pulse is None:
        raise DatabaseUnavailableError("The catalogue's database does not respond.")
    if pulse.mismatch is not None:
        raise SchemaMismatchError(pulse.mismatch)
    if pulse.workers == 0 and require is not None:
        raise NoWorkerError("The database responds, but no worker has sent a heartbeat in the last seconds.")
    return {"status": "ready" if pulse.workers else "degraded", "workers": pulse.workers}


_EXAMPLE = 'aegis_http_requests_total{method="POST",route="/v1/entries",status="201"} 3.0'


@router.get(
    "/metrics",
    summary="Metrics for Prometheus",
    response_class=Response,
    responses={
        200: {"description": "The metrics", "content": {"text/plain": {"example": _EXAMPLE}}},
        **_AT_OTHER_PORT,
    },
)
async def read_metrics(request: Request, state: StateDependency) -> Response:
    """Returns the counters of this process, and the database and queue metrics, at most a few seconds old."""
    await state.probe.read()
    return Response(generate_latest(request.app.state.registry), media_type=CONTENT_TYPE_LATEST)
