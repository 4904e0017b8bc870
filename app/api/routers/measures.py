"""The registry of measures."""

from typing import Any

from fastapi import APIRouter

from aegis_advisor.measures import MEASURES, Measure
from aegis_sdk import wire
from app.api.dependencies import CallerDependency
from app.api.describe import answers
from app.api.mapping import JsonResponse

router = APIRouter(tags=["measures"])


@router.get("/v1/measures", summary="List the measures", responses=answers(200, wire.MeasureList, "All measures"))
async def list_measures(_caller: CallerDependency) -> JsonResponse:
    """Lists the measures that advice can be asked for, and which of them guarantee an exact ranking."""
    return JsonResponse({"items": [_measure_body(measure) for measure in MEASURES.values()]})


def _measure_body(measure: Measure) -> dict[str, Any]:
    fields = ("id", "unit", "better", "monotone", "formula", "guarantee", "reason", "source", "corrected_by_default")
    return {field: getattr(measure, field) for field in fields} | {"bias_correction": measure.correction is not None}
