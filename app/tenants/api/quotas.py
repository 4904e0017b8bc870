"""What tenants may use, and what they use of it."""

from fastapi import APIRouter, Response

from aegis_sdk import wire
from app.edge.dependencies import CallerDependency, FactoryDependency, OwnTenant, SmallBodyDependency
from app.platform.http.bodies import validated
from app.platform.http.json_response import JsonResponse
from app.platform.http.operations import answers, body
from app.tenants.api import json as tenant_json

router = APIRouter(prefix="/v1/quota", tags=["policy"])


@router.get("", summary="Read a tenant's quota", responses=answers(200, wire.Quota, "The quota and its use", 422))
async def read_quota(caller: CallerDependency, factory: FactoryDependency, tenant: OwnTenant = None) -> Response:
    """Says what a tenant may store and ask, and what it has stored and asked."""
    return JsonResponse(await tenant_json.quota_body(factory, caller, tenant))


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
    await tenant_json.set_quota(factory, caller, tenant, asked)
    return JsonResponse(await tenant_json.quota_body(factory, caller, tenant))
