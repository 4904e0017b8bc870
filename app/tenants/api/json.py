"""Policies and quotas of tenants as the API and the console change and show them."""

from typing import Any

import structlog

from aegis_sdk import wire
from app.factory import Factory
from app.platform.callers import Caller
from app.tenants.api.required_privacy import required_privacy
from app.tenants.model.policy import TenantPolicy
from app.tenants.model.quotas import Quota

_log = structlog.get_logger(__name__)


def policy_body(tenant: str, policy: TenantPolicy) -> dict[str, Any]:
    """A policy as `wire.TenantPolicy`."""
    return {
        "tenant": tenant,
        "require": policy.required_privacy.numbers,
        "sign_off": policy.demands_sign_off,
    }


async def set_policy(
    services: Factory, caller: Caller, tenant: str | None, asked: wire.PolicyDocument
) -> dict[str, Any]:
    """Set what a tenant asks of its entries, log who did so, and return it as `wire.TenantPolicy`."""
    policy = TenantPolicy(required_privacy(asked.require or {}), asked.sign_off)
    owner = await services.tenant_administration().set_policy(caller, tenant, policy)
    _log.info("policy set", require=str(policy.required_privacy), sign_off=policy.demands_sign_off, by=caller.subject)
    return policy_body(owner, policy)


async def quota_body(services: Factory, caller: Caller, tenant: str | None) -> dict[str, Any]:
    """What a tenant may use, and what it uses, as `wire.Quota`."""
    name, quota, usage = await services.quotas().read(caller, tenant)
    return {
        "tenant": name,
        "limits": {limit: getattr(quota, limit) for limit in wire.QUOTAS},
        "used": {limit: getattr(usage, limit) for limit in wire.QUOTAS},
    }


async def set_quota(services: Factory, caller: Caller, tenant: str | None, asked: wire.QuotaDocument) -> None:
    """Set the limits of a tenant, and log who did so."""
    quota = Quota(**asked.model_dump())
    await services.quotas().set(caller, tenant, quota)
    _log.info("quota set", quota=str(quota), by=caller.subject)
