"""Leases of requests: while one program fulfils a request, no other one does."""

from datetime import timedelta
from uuid import UUID

import structlog
from fastapi import APIRouter, Response

from aegis_sdk import wire
from app.edge.dependencies import CallerDependency, FactoryDependency, SmallBodyDependency
from app.edge.idempotency import OnceDependency
from app.factory import Factory
from app.platform.http.bodies import validated
from app.platform.http.json_response import JsonResponse
from app.platform.http.operations import answers, body

router = APIRouter(prefix="/v1/requests/{request_id}/lease", tags=["requests"])

_log = structlog.get_logger(__name__)


@router.post(
    "",
    summary="Take or renew a request's lease",
    openapi_extra=body(wire.LeaseRequest),
    responses=answers(200, wire.Lease, "The lease", 400, 404, 409, 413, 415, 422),
)
async def take_lease(
    request_id: str, caller: CallerDependency, document: SmallBodyDependency, once: OnceDependency
) -> Response:
    """Keeps other programs from fulfilling an approved request for some time. For the entry's provider."""

    async def take(factory: Factory, asked: wire.LeaseRequest) -> Response:
        length = timedelta(seconds=asked.seconds)
        lease = await factory.leases().take(caller, request_id, asked.lease, length)
        _log.info("request leased", data_request=request_id, seconds=asked.seconds, by=caller.subject)
        return JsonResponse(wire.Lease(lease=lease.id, expires_at=lease.expires_at))

    return await once.answer(document, lambda: validated(wire.LeaseRequest, document), take)


@router.delete(
    "/{lease_id}",
    summary="Release a request's lease",
    status_code=204,
    responses=answers(204, None, "Others can take it now; also if it was over before", 404, 422),
)
async def release_lease(
    request_id: str, lease_id: UUID, caller: CallerDependency, factory: FactoryDependency
) -> Response:
    """Lets other programs fulfil the request."""
    await factory.leases().release(caller, request_id, str(lease_id))
    return Response(status_code=204)
