"""The counts to compare a delivered table with."""

from math import prod

import structlog
from fastapi import APIRouter, Response

from aegis_sdk import wire
from app.edge.dependencies import CallerDependency
from app.edge.state import State, StateDependency, services_of
from app.entries.model.documents import is_small
from app.platform.callers import Caller
from app.platform.http.json_response import JsonResponse
from app.platform.http.operations import answers
from app.requests.api.evidence_json import evidence_json
from app.requests.service.verifications import PackedEvidence

router = APIRouter(prefix="/v1/requests/{request_id}", tags=["requests"])

_log = structlog.get_logger(__name__)

#: What is put together at once has at most so many cells, and bytes of JSON.
_SMALL = 50_000


@router.get(
    "/evidence",
    summary="Read the counts of what was delivered",
    responses=answers(200, wire.Evidence, "The counts of the delivered configuration", 404, 409),
)
async def read_evidence(request_id: str, caller: CallerDependency, state: StateDependency) -> Response:
    """Returns what a delivered table must count: the published counts of its configuration, and of no other."""
    async with state.database.transaction() as session:
        packed = await services_of(state, session).verifications().evidence(caller, request_id)
    _log.info("evidence read", data_request=packed.request.id, by=caller.subject)
    return JsonResponse(await _made(state, caller, packed))


async def _made(state: State, caller: Caller, packed: PackedEvidence) -> bytes:
    """The evidence as JSON. A child makes that of large entries, outside of any transaction."""
    cells = sum(prod(table.counts.shape) for table in packed.tables)
    if cells <= _SMALL and is_small(packed.schema, _SMALL) and is_small(packed.configurations, _SMALL):
        return evidence_json(packed)
    return await state.making.run(evidence_json, packed, on_behalf_of=caller.tenant)
