"""Tenants: what each of them asks of its entries, and may use.

`app.tenants.service.administration` is the same for callers.
"""

from dataclasses import dataclass

from app.audit.model import AuditAction, AuditRecord
from app.audit.store import AuditStore
from app.platform.callers import Caller, refuse_name
from app.tenants.model.policy import CountedTenant, TenantPolicy
from app.tenants.model.quotas import Quota
from app.tenants.store.quotas import QuotaStore
from app.tenants.store.tenants import TenantStore


@dataclass(frozen=True, slots=True)
class TenantPage:
    """One page of tenants, by name; the name after which the next one begins, or None."""

    items: tuple[CountedTenant, ...]
    next_after: str | None


class TenantService:
    """Tenants by name, for the service itself and for whoever runs it."""

    def __init__(self, tenants: TenantStore, quotas: QuotaStore, audit: AuditStore) -> None:
        self._audit = audit
        self._tenants = tenants
        self._quotas = quotas

    async def policy(self, tenant: str) -> TenantPolicy:
        """What a tenant asks of its entries."""
        return await self._tenants.policy(tenant)

    async def set_policy(self, tenant: str, policy: TenantPolicy, *, by: Caller | None = None) -> None:
        """Set what a tenant asks of its entries; the tenant is created if it is new.

        `by` is who does so; None for whoever runs the service.

        Raises:
            InvalidDocumentError: the name of the tenant is invalid.
        """
        refuse_name(tenant)
        await self._tenants.set_policy(tenant, policy)
        await self._audit.add(AuditRecord(AuditAction.SET_POLICY, target=tenant, value=str(policy)), by)

    async def set_quota(self, tenant: str, quota: Quota) -> None:
        """Set what a tenant may use; where it has no limit, the service's usual one applies.

        Raises:
            InvalidDocumentError: the name of the tenant is invalid.
        """
        refuse_name(tenant)
        await self._quotas.set_quota(tenant, quota)
        await self._audit.add(AuditRecord(AuditAction.SET_QUOTA, target=tenant, value=str(quota)), None)

    async def all(self) -> list[tuple[str, TenantPolicy]]:
        """Every tenant, with what it asks."""
        return await self._tenants.all()

    async def page(self, name: str | None, limit: int, after: str | None) -> TenantPage:
        """A page of tenants with what they have; only the one of this name if there is one."""
        listed = await self._tenants.counted(name, limit + 1, after)
        return TenantPage(tuple(listed[:limit]), listed[limit - 1].name if len(listed) > limit else None)
