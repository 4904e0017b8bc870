"""What a tenant asks of its own entries, for its administrators and for operators."""

import structlog
from fastapi import APIRouter, Response

from aegis_sdk import wire
from app.edge.dependencies import CallerDependency, FactoryDependency, OwnTenant, SmallBodyDependency
from app.factory import Factory
from app.platform.callers import Caller
from app.platform.http.bodies import validated
from app.platform.http.json_response import JsonResponse
from app.platform.http.operations import answers, body
from app.tenants.api.required_privacy import required_privacy
from app.tenants.model.policy import TenantPolicy

router = APIRouter(prefix="/v1/policy", tags=["policy"])

_log = structlog.get_logger(__name__)


@router.get(
    "",
    summary="Read a tenant's policy",
    responses=answers(200, wire.TenantPolicy, "What the tenant asks of its entries", 422),
)
async def read_policy(caller: CallerDependency, factory: FactoryDependency, tenant: OwnTenant = None) -> Response:
    """Says what a tenant asks of its entries, besides what the service asks."""
    return JsonResponse(_answer(*await factory.tenant_administration().policy(caller, tenant)))


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
    return JsonResponse(await change_policy(factory, caller, tenant, asked))


async def change_policy(
    services: Factory, caller: Caller, tenant: str | None, asked: wire.PolicyDocument
) -> wire.TenantPolicy:
    """Set what a tenant asks of its entries, and log who did so."""
    policy = TenantPolicy(required_privacy(asked.require or {}), asked.sign_off)
    owner = await services.tenant_administration().set_policy(caller, tenant, policy)
    _log.info("policy set", require=str(policy.required_privacy), sign_off=policy.demands_sign_off, by=caller.subject)
    return _answer(owner, policy)


def _answer(tenant: str, policy: TenantPolicy) -> wire.TenantPolicy:
    return wire.TenantPolicy(tenant=tenant, require=policy.required_privacy.numbers, sign_off=policy.demands_sign_off)
