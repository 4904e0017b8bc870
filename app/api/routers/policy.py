"""What a tenant asks of its own entries, for its administrators and for operators."""

from typing import Any

import structlog
from fastapi import APIRouter, Response

from aegis_sdk import wire
from app.api.dependencies import CallerDependency, FactoryDependency, SmallBodyDependency
from app.api.describe import answers, body
from app.api.json_response import JsonResponse
from app.api.routers.keys import OwnTenant
from app.domain.tenants import TenantPolicy
from app.web.bodies import validated
from app.web.required_privacy import required_privacy

_log = structlog.get_logger(__name__)

router = APIRouter(prefix="/v1/policy", tags=["policy"])


@router.get(
    "",
    summary="Read a tenant's policy",
    responses=answers(200, wire.TenantPolicy, "What the tenant asks of its entries", 422),
)
async def read_policy(caller: CallerDependency, factory: FactoryDependency, tenant: OwnTenant = None) -> Response:
    """Says what a tenant asks of its entries, besides what the service asks."""
    return JsonResponse(_policy_body(*await factory.administration().policy(caller, tenant)))


@router.put(
    "",
    summary="Set a tenant's policy",
    openapi_extra=body(wire.PolicyDocument),
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
    policy = TenantPolicy(required_privacy(asked.require or {}), asked.sign_off)
    owner = await factory.administration().set_policy(caller, tenant, policy)
    _log.info("policy set", require=str(policy.required_privacy), sign_off=policy.demands_sign_off, by=caller.subject)
    return JsonResponse(_policy_body(owner, policy))


def _policy_body(tenant: str, policy: TenantPolicy) -> dict[str, Any]:
    """A policy as `wire.TenantPolicy`."""
    return {
        "tenant": tenant,
        "require": policy.required_privacy.numbers,
        "sign_off": policy.demands_sign_off,
    }
