"""What operators and their probes ask, and the registry of measures."""

from fastapi import APIRouter

from aegis_sdk import wire
from app.api.dependencies import CallerDependency, StateDependency
from app.api.describe import answers, problems
from app.api.mapping import measures_body
from app.api.responses import JsonResponse

router = APIRouter()


@router.get(
    "/v1/measures",
    tags=["measures"],
    summary="List the measures",
    responses=answers(200, wire.MeasureList, "All"),
)
async def list_measures(_caller: CallerDependency) -> JsonResponse:
    """What advice can be asked for, and which measures carry the guarantee of an exact ranking."""
    return JsonResponse(measures_body())


@router.get(
    "/healthz",
    tags=["operation"],
    summary="Is the process alive?",
    responses={200: {"description": "Alive", "content": {"application/json": {"example": {"status": "alive"}}}}},
)
async def read_health() -> dict[str, str]:
    """Answers as long as the process does; asks nothing of the database."""
    return {"status": "alive"}


@router.get(
    "/readyz",
    tags=["operation"],
    summary="Can it answer?",
    responses={
        200: {"description": "Ready", "content": {"application/json": {"example": {"status": "ready"}}}},
        **problems(503),
    },
)
async def read_readiness(state: StateDependency) -> dict[str, str]:
    """200 when the database answers, else 503."""
    await state.database.ping()
    return {"status": "ready"}
