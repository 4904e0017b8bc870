"""Quotas: what a tenant may store and ask, before it does."""

import math

from app.audit.model import AuditAction, AuditRecord
from app.audit.store import AuditStore
from app.platform.callers import Caller, refuse_name
from app.platform.errors import QuotaExceededError, QuotaSpentError, RoleNotAllowedError
from app.tenants.model.quotas import Quota, Usage
from app.tenants.store.quotas import QuotaStore


class QuotaService:
    """Quotas of tenants. `usual` is what applies to a tenant where it has no quota of its own."""

    def __init__(self, quotas: QuotaStore, usual: Quota, audit: AuditStore) -> None:
        self._audit = audit
        self._quotas = quotas
        self._usual = usual

    async def admit_version(self, tenant: str, size: int) -> None:
        """Refuse a version that would exceed what the tenant may store. A new entry is stored before this is called.

        Others who publish for the tenant wait until this transaction ends, so that together they keep to it.

        Args:
            tenant: who owns the entry.
            size: how many bytes the version takes.

        Raises:
            QuotaExceededError: what would be exceeded.
        """
        if not (await self._of(tenant)).limits_storage:
            return
        quota = (await self._quotas.quota(tenant, lock=True)).otherwise(self._usual)
        entries, versions, stored = await self._quotas.stored(tenant)
        planned = {"entries": entries, "versions": versions + 1, "bytes": stored + size}
        for name, number in planned.items():
            limit = quota.numbers.get(name)
            if limit is not None and number > limit:
                raise QuotaExceededError(
                    f"The tenant {tenant} may have {limit:,} {name}, and this would make {number:,}. Delete what is "
                    "not needed any more, or ask an operator for more."
                )

    async def admit_question(self, tenant: str) -> None:
        """Refuse a question, which is stored before this is called, if the tenant asks too many in a day.

        Raises:
            QuotaSpentError: with the time after which it may ask again.
        """
        limit = (await self._of(tenant)).advice
        if limit is not None and await self._quotas.asked(tenant) > limit:
            raise QuotaSpentError(
                f"The tenant {tenant} may ask {limit:,} new questions in 24 hours. Those that were asked can be asked "
                "again at any time.",
                math.ceil(await self._quotas.first_asked(tenant)),
            )

    async def read(self, caller: Caller, tenant: str | None) -> tuple[str, Quota, Usage]:
        """A tenant (the caller's own if None), what it may use, and what it uses.

        Raises:
            RoleNotAllowedError: it is another tenant, and the caller is no operator.
            InvalidDocumentError: the name of the tenant is invalid.
        """
        name = caller.tenant if tenant is None else tenant
        _refuse_other(caller, name)
        return name, await self._of(name), await self._quotas.usage(name)

    async def own(self, caller: Caller, tenant: str) -> Quota:
        """What a tenant may use by its own quota, without the usual one.

        Raises:
            RoleNotAllowedError: it is another tenant, and the caller is no operator.
            InvalidDocumentError: the name of the tenant is invalid.
        """
        _refuse_other(caller, tenant)
        return await self._quotas.quota(tenant)

    async def set(self, caller: Caller, tenant: str | None, quota: Quota) -> None:
        """Set a tenant's own quota; where it has no limit, the usual one applies.

        Raises:
            RoleNotAllowedError: the caller is no operator.
            InvalidDocumentError: the name of the tenant is invalid.
        """
        if not caller.is_operator:
            raise RoleNotAllowedError("Only operators may change quotas.")
        name = caller.tenant if tenant is None else tenant
        refuse_name(name)
        await self._quotas.set_quota(name, quota)
        await self._audit.add(AuditRecord(AuditAction.SET_QUOTA, target=name, value=str(quota)), caller)

    async def _of(self, tenant: str) -> Quota:
        return (await self._quotas.quota(tenant)).otherwise(self._usual)


def _refuse_other(caller: Caller, tenant: str) -> None:
    if tenant != caller.tenant and not caller.is_operator:
        raise RoleNotAllowedError("Only operators may read the quota of another tenant.")
    refuse_name(tenant)
