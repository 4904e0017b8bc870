"""The registry of measures."""

from functools import cache

from fastapi import APIRouter, Response

from aegis_advisor.measures import MEASURES, Measure
from aegis_sdk import wire
from app.edge.dependencies import CallerDependency
from app.platform.http.conditional import NOT_MODIFIED, REVALIDATED, KnownTagsDependency, etag_of
from app.platform.http.operations import JsonResponse, answers

router = APIRouter(tags=["measures"])


@router.get(
    "/v1/measures",
    summary="List the measures",
    responses=answers(200, wire.MeasureList, "All measures", headers=("ETag",)) | NOT_MODIFIED,
)
async def list_measures(_caller: CallerDependency, known: KnownTagsDependency) -> Response:
    """Lists the measures available for advice, and which of them guarantee an exact ranking."""
    body, tag = _measures()
    headers = {"ETag": tag, "Cache-Control": REVALIDATED}
    return known.unchanged(tag, headers) or JsonResponse(body, headers=headers)


@cache
def _measures() -> tuple[bytes, str]:
    """The constant response and its tag."""
    body = wire.MeasureList(items=list(map(_answer, MEASURES.values()))).model_dump_json().encode()
    return body, etag_of(body)


def _answer(measure: Measure) -> wire.Measure:
    shared = wire.Measure.model_validate(measure, from_attributes=True)
    return shared.model_copy(update={"bias_correction": measure.correction is not None})
