"""The policies and quotas of tenants."""

import math
from dataclasses import dataclass
from typing import ClassVar, Generic

from app.audit.model import AuditAction, AuditRecord
from app.audit.store import AuditStore
from app.platform.callers import Caller, administered_tenant, refuse_name
from app.platform.errors import NotFoundError, QuotaExceededError, QuotaSpentError, RoleNotAllowedError
from app.tenants.model import CountedTenant, Quota, TenantPolicy, Usage
from app.tenants.store import Owned, OwnedStore, QuotaStore, TenantStore


@dataclass(frozen=True, slots=True)
class TenantPage:
    """One page of tenants by name, and the name after which the next page begins, or None."""

    items: tuple[CountedTenant, ...]
    next_after: str | None


@dataclass(frozen=True, slots=True)
class OwnedService(Generic[Owned]):
    """What tenants own, such as webhooks, for their administrators and for operators."""

    _store: OwnedStore[Owned]
    _noun: ClassVar[str]

    async def of_tenant(self, caller: Caller, tenant: str | None) -> list[Owned]:
        """Those of a tenant, the caller's own if None.

        Raises:
            RoleNotAllowedError: the caller does not administer it.
        """
        return await self._store.of_tenant(administered_tenant(caller, tenant))

    async def find(self, caller: Caller, owned_id: str) -> Owned:
        """The one with this id.

        Raises:
            RoleNotAllowedError: the caller is not an administrator.
            NotFoundError: there is none, or its tenant is not the caller's.
        """
        administered_tenant(caller, None)
        owned = await self._store.find(owned_id)
        if owned is None or not (caller.is_operator or owned.tenant == caller.tenant):
            raise NotFoundError(f"There is no {self._noun} {owned_id}, or you may not see it.")
        return owned


@dataclass(frozen=True, slots=True)
class TenantService:
    """Tenants by name, for the service and its operator.

    Raises:
        InvalidDocumentError: the name of a tenant is invalid.
    """

    tenants: TenantStore
    quotas: QuotaStore
    audit: AuditStore

    async def set_policy(self, tenant: str, policy: TenantPolicy, *, by: Caller | None = None) -> None:
        """Set a tenant's policy; the tenant is created if it is new.

        `by` is the caller; None for the operator of the process.
        """
        refuse_name(tenant)
        await self.tenants.set_policy(tenant, policy)
        await self.audit.add(AuditRecord(AuditAction.SET_POLICY, target=tenant, value=str(policy)), by)

    async def set_quota(self, tenant: str, quota: Quota) -> None:
        """Set a tenant's quota; the service's default applies to limits that are not set."""
        refuse_name(tenant)
        await self.quotas.set_quota(tenant, quota)
        await self.audit.add(AuditRecord(AuditAction.SET_QUOTA, target=tenant, value=str(quota)), None)


@dataclass(frozen=True, slots=True)
class TenantAdministration:
    """The policies of tenants, for callers.

    Raises:
        RoleNotAllowedError: the caller may not administer the tenant.
        InvalidDocumentError: the name of a tenant is invalid.
    """

    service: TenantService

    async def policy(self, caller: Caller, tenant: str | None) -> tuple[str, TenantPolicy]:
        """A tenant (the caller's own if None) and its policy."""
        owner = administered_tenant(caller, tenant)
        return owner, await self.service.tenants.policy(owner)

    async def set_policy(self, caller: Caller, tenant: str | None, policy: TenantPolicy) -> str:
        """Set the policy of a tenant (the caller's own if None) and return its name."""
        owner = administered_tenant(caller, tenant)
        await self.service.set_policy(owner, policy, by=caller)
        return owner

    async def tenants(self, caller: Caller, limit: int, after: str | None) -> TenantPage:
        """A page of tenants with their numbers: all for operators, else the caller's own."""
        own = administered_tenant(caller, None)
        if after is not None:
            refuse_name(after)
        listed = await self.service.tenants.counted(None if caller.is_operator else own, limit + 1, after)
        return TenantPage(tuple(listed[:limit]), listed[limit - 1].name if len(listed) > limit else None)


@dataclass(frozen=True, slots=True)
class QuotaService:
    """Quotas of tenants. `usual` is the default for limits that a tenant does not have.

    Raises:
        RoleNotAllowedError: the caller is not an operator, and sets a quota or reads that of another tenant.
        InvalidDocumentError: the name of a tenant is invalid.
    """

    quotas: QuotaStore
    usual: Quota
    audit: AuditStore

    async def admit_version(self, tenant: str, size: int) -> None:
        """Refuse a version beyond the tenant's storage quota. A new entry is stored before this call.

        Concurrent publications for the tenant wait until this transaction ends, and so respect the quota.

        Args:
            size: the version's size in bytes.

        Raises:
            QuotaExceededError: the limit that would be exceeded.
        """
        if (await self._of(tenant)).numbers.keys().isdisjoint(("entries", "versions", "bytes")):
            return
        quota = (await self.quotas.quota(tenant, lock=True)).otherwise(self.usual)
        entries, versions, stored = await self.quotas.stored(tenant)
        planned = {"entries": entries, "versions": versions + 1, "bytes": stored + size}
        for name, number in planned.items():
            limit = quota.numbers.get(name)
            if limit is not None and number > limit:
                raise QuotaExceededError(
                    f"The tenant {tenant} may have {limit:,} {name}, and this would make {number:,}. Delete what "
                    "you no longer need, or ask an operator for more."
                )

    async def admit_question(self, tenant: str) -> None:
        """Refuse a question (stored before this call) if the tenant asks too many in a day.

        Raises:
            QuotaSpentError: with the time after which it may ask again.
        """
        limit = (await self._of(tenant)).advice
        if limit is not None and await self.quotas.asked(tenant) > limit:
            raise QuotaSpentError(
                f"The tenant {tenant} may ask {limit:,} new questions in 24 hours. Earlier questions can be "
                "repeated at any time.",
                math.ceil(await self.quotas.first_asked(tenant)),
            )

    async def read(self, caller: Caller, tenant: str | None) -> tuple[str, Quota, Usage]:
        """A tenant (the caller's own if None), its quota and its usage."""
        name = caller.tenant if tenant is None else tenant
        _refuse_other(caller, name)
        return name, await self._of(name), await self.quotas.usage(name)

    async def own(self, caller: Caller, tenant: str) -> Quota:
        """A tenant's own quota, without the defaults."""
        _refuse_other(caller, tenant)
        return await self.quotas.quota(tenant)

    async def set(self, caller: Caller, tenant: str | None, quota: Quota) -> None:
        """Set a tenant's own quota; the default applies to limits that are not set."""
        if not caller.is_operator:
            raise RoleNotAllowedError("Only operators may change quotas.")
        name = caller.tenant if tenant is None else tenant
        refuse_name(name)
        await self.quotas.set_quota(name, quota)
        await self.audit.add(AuditRecord(AuditAction.SET_QUOTA, target=name, value=str(quota)), caller)

    async def _of(self, tenant: str) -> Quota:
        return (await self.quotas.quota(tenant)).otherwise(self.usual)


def _refuse_other(caller: Caller, tenant: str) -> None:
    if tenant != caller.tenant and not caller.is_operator:
        raise RoleNotAllowedError("Only operators may read the quota of another tenant.")
    refuse_name(tenant)
