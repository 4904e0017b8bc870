"""The policy and the quota of a tenant, for its administrators and for operators."""

from dataclasses import asdict

import structlog
from fastapi import APIRouter, Response

from aegis_sdk import wire
from app.edge.dependencies import CallerDependency, FactoryDependency, OwnTenant, SmallBodyDependency
from app.factory import Factory
from app.platform.callers import Caller
from app.platform.http.bodies import validated
from app.platform.http.operations import JsonResponse, answers, body
from app.tenants.model import Composed, Quota, TenantPolicy, Usage
from app.tenants.required_privacy import required_privacy

router = APIRouter(tags=["policy"])

_log = structlog.get_logger(__name__)


@router.get(
    "/v1/policy",
    summary="Read a tenant's policy",
    responses=answers(200, wire.TenantPolicy, "The policy", 422),
)
async def read_policy(caller: CallerDependency, factory: FactoryDependency, tenant: OwnTenant = None) -> Response:
    """Returns a tenant's policy, which adds to the service's requirements."""
    return JsonResponse(_policy(*await factory.tenant_administration().policy(caller, tenant)))


@router.put(
    "/v1/policy",
    summary="Set a tenant's policy",
    openapi_extra=body(wire.PolicyDocument, replaces=True),
    responses=answers(200, wire.TenantPolicy, "The policy from now on", 400, 413, 415, 422),
)
async def set_policy(
    caller: CallerDependency, document: SmallBodyDependency, factory: FactoryDependency, tenant: OwnTenant = None
) -> Response:
    """Replaces the whole policy: what the body omits is no longer required. It applies at once.

    A sign-off is required of versions published from now on: visible versions stay visible, and those that await their
    sign-off still need it.
    """
    asked = await validated(wire.PolicyDocument, document)
    return JsonResponse(await change_policy(factory, caller, tenant, asked))


async def change_policy(
    services: Factory, caller: Caller, tenant: str | None, asked: wire.PolicyDocument
) -> wire.TenantPolicy:
    """Set a tenant's policy and log it."""
    composition = None if asked.composition is None else Composed(asked.composition)
    policy = TenantPolicy(required_privacy(asked.require or {}, asked.unit), asked.sign_off, composition)
    owner = await services.tenant_administration().set_policy(caller, tenant, policy)
    _log.info("policy set", policy=str(policy), by=caller.subject)
    return _policy(owner, policy)


def _policy(tenant: str, policy: TenantPolicy) -> wire.TenantPolicy:
    required = policy.required_privacy
    return wire.TenantPolicy(
        tenant=tenant,
        require=required.numbers,
        unit=required.unit,
        sign_off=policy.demands_sign_off,
        composition=policy.composition,
    )


@router.get(
    "/v1/quota", summary="Read a tenant's quota", responses=answers(200, wire.Quota, "The quota and its use", 422)
)
async def read_quota(caller: CallerDependency, factory: FactoryDependency, tenant: OwnTenant = None) -> Response:
    """Returns a tenant's quota and its current usage."""
    return JsonResponse(_quota(*await factory.quotas().read(caller, tenant)))


@router.put(
    "/v1/quota",
    summary="Set a tenant's quota",
    openapi_extra=body(wire.QuotaDocument, replaces=True),
    responses=answers(200, wire.Quota, "The quota from now on, and its use", 400, 413, 415, 422),
)
async def set_quota(
    caller: CallerDependency, document: SmallBodyDependency, factory: FactoryDependency, tenant: OwnTenant = None
) -> Response:
    """Sets all limits of a tenant; the service's default applies to those that the body omits. For operators."""
    asked = await validated(wire.QuotaDocument, document)
    await change_quota(factory, caller, tenant, asked)
    return JsonResponse(_quota(*await factory.quotas().read(caller, tenant)))


async def change_quota(services: Factory, caller: Caller, tenant: str | None, asked: wire.QuotaDocument) -> None:
    """Set the limits of a tenant and log it."""
    quota = Quota(**asked.model_dump())
    await services.quotas().set(caller, tenant, quota)
    _log.info("quota set", quota=str(quota), by=caller.subject)


def _quota(tenant: str, quota: Quota, usage: Usage) -> wire.Quota:
    return wire.Quota(tenant=tenant, limits=asdict(quota), used=asdict(usage))
