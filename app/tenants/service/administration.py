"""Policies of tenants, for their administrators and for operators."""

from app.platform.callers import Caller, administered_tenant, refuse_name
from app.tenants.model.policy import TenantPolicy
from app.tenants.service.tenants import TenantPage, TenantService


class TenantAdministration:
    """What tenants ask of their entries, for callers."""

    def __init__(self, tenants: TenantService) -> None:
        self._tenants = tenants

    async def policy(self, caller: Caller, tenant: str | None) -> tuple[str, TenantPolicy]:
        """A tenant, the caller's own if None, with what it asks of its entries.

        Raises:
            RoleNotAllowedError: the caller may not administer this tenant.
        """
        owner = administered_tenant(caller, tenant)
        return owner, await self._tenants.policy(owner)

    async def set_policy(self, caller: Caller, tenant: str | None, policy: TenantPolicy) -> str:
        """Set what a tenant, the caller's own if None, asks of its entries, and return its name.

        Raises:
            RoleNotAllowedError: the caller may not administer this tenant.
            InvalidDocumentError: the name of the tenant is invalid.
        """
        owner = administered_tenant(caller, tenant)
        await self._tenants.set_policy(owner, policy, by=caller)
        return owner

    async def tenants(self, caller: Caller, limit: int, after: str | None) -> TenantPage:
        """A page of tenants with what they have: all for operators, else the caller's own.

        Raises:
            RoleNotAllowedError: the caller administers nothing.
            InvalidDocumentError: no tenant can have the name after which the page begins.
        """
        own = administered_tenant(caller, None)
        if after is not None:
            refuse_name(after)
        return await self._tenants.page(None if caller.is_operator else own, limit, after)
