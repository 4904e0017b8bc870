"""What tenants may use, and what they use of it."""

from dataclasses import asdict

import structlog
from fastapi import APIRouter, Response

from aegis_sdk import wire
from app.edge.dependencies import CallerDependency, FactoryDependency, OwnTenant, SmallBodyDependency
from app.factory import Factory
from app.platform.callers import Caller
from app.platform.http.bodies import validated
from app.platform.http.json_response import JsonResponse
from app.platform.http.operations import answers, body
from app.tenants.model.quotas import Quota, Usage

router = APIRouter(prefix="/v1/quota", tags=["policy"])

_log = structlog.get_logger(__name__)


@router.get("", summary="Read a tenant's quota", responses=answers(200, wire.Quota, "The quota and its use", 422))
async def read_quota(caller: CallerDependency, factory: FactoryDependency, tenant: OwnTenant = None) -> Response:
    """Says what a tenant may store and ask, and what it has stored and asked."""
    return JsonResponse(_answer(*await factory.quotas().read(caller, tenant)))


@router.put(
    "",
    summary="Set a tenant's quota",
    openapi_extra=body(wire.QuotaDocument, replaces=True),
    responses=answers(200, wire.Quota, "The quota from now on, and its use", 400, 413, 415, 422),
)
async def set_quota(
    caller: CallerDependency, document: SmallBodyDependency, factory: FactoryDependency, tenant: OwnTenant = None
) -> Response:
    """Sets all limits of a tenant; for what the body leaves out, the service's usual limit applies. For operators."""
    asked = await validated(wire.QuotaDocument, document)
    await change_quota(factory, caller, tenant, asked)
    return JsonResponse(_answer(*await factory.quotas().read(caller, tenant)))


async def change_quota(services: Factory, caller: Caller, tenant: str | None, asked: wire.QuotaDocument) -> None:
    """Set the limits of a tenant, and log who did so."""
    quota = Quota(**asked.model_dump())
    await services.quotas().set(caller, tenant, quota)
    _log.info("quota set", quota=str(quota), by=caller.subject)


def _answer(tenant: str, quota: Quota, usage: Usage) -> wire.Quota:
    return wire.Quota(tenant=tenant, limits=asdict(quota), used=asdict(usage))
