"""What a tenant asks of its own entries, for its administrators and for operators."""

from fastapi import APIRouter, Response

from aegis_sdk import wire
from app.edge.dependencies import CallerDependency, FactoryDependency, OwnTenant, SmallBodyDependency
from app.platform.http.bodies import validated
from app.platform.http.json_response import JsonResponse
from app.platform.http.operations import answers, body
from app.tenants.api import json as tenant_json

router = APIRouter(prefix="/v1/policy", tags=["policy"])


@router.get(
    "",
    summary="Read a tenant's policy",
    responses=answers(200, wire.TenantPolicy, "What the tenant asks of its entries", 422),
)
async def read_policy(caller: CallerDependency, factory: FactoryDependency, tenant: OwnTenant = None) -> Response:
    """Says what a tenant asks of its entries, besides what the service asks."""
    return JsonResponse(tenant_json.policy_body(*await factory.tenant_administration().policy(caller, tenant)))


@router.put(
    "",
    summary="Set a tenant's policy",
    openapi_extra=body(wire.PolicyDocument, replaces=True),
    responses=answers(200, wire.TenantPolicy, "What the tenant asks from now on", 400, 413, 415, 422),
)
async def set_policy(
    caller: CallerDependency, document: SmallBodyDependency, factory: FactoryDependency, tenant: OwnTenant = None
) -> Response:
    """Sets all of it; what the body leaves out is not asked any more. It applies at once.

    A sign-off is demanded of versions that are published from now on: those that others see already stay visible, and
    those that await theirs go on waiting.
    """
    asked = await validated(wire.PolicyDocument, document)
    return JsonResponse(await tenant_json.set_policy(factory, caller, tenant, asked))
