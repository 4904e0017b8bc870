"""The store of quotas, and of what tenants use of them."""

from sqlalchemy import func, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.advice.tables.question import QuestionRow
from app.entries.tables.entry import EntryRow
from app.entries.tables.entry_version import EntryVersionRow
from app.tenants.model.quotas import DAY, NO_QUOTA, Quota, Usage
from app.tenants.store.tenants import tenant_id
from app.tenants.tables import TenantRow

_RUNNING = text(
    "SELECT coalesce(max(jobs), 0) FROM (SELECT count(*) AS jobs FROM procrastinate_jobs "
    "WHERE status = 'doing' AND args ->> 'tenant' = :tenant GROUP BY queue_name) AS lanes"
)


class QuotaStore:
    """Quotas by the name of the tenant."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def quota(self, tenant: str, *, lock: bool = False) -> Quota:
        """What the tenant may use by its own quota; `lock` makes others who ask so wait for this transaction."""
        wanted = select(TenantRow.quota).where(TenantRow.name == tenant)
        # Entries refer to the tenant, and adding one must not wait for who only reads the quota.
        stored = (await self._session.execute(wanted.with_for_update(key_share=True) if lock else wanted)).scalar()
        return Quota.from_numbers(stored) if stored else NO_QUOTA

    async def set_quota(self, tenant: str, quota: Quota) -> None:
        """Set the tenant's own quota; the tenant is created if it is new."""
        owner = await tenant_id(self._session, tenant)
        await self._session.execute(update(TenantRow).where(TenantRow.id == owner).values(quota=quota.numbers))

    async def usage(self, tenant: str) -> Usage:
        """What the tenant uses."""
        running = await self._session.execute(_RUNNING, {"tenant": tenant})
        entries, versions, stored = await self.stored(tenant)
        return Usage(entries, versions, stored, await self.asked(tenant), running.scalar_one())

    async def stored(self, tenant: str) -> tuple[int, int, int]:
        """The numbers of the tenant's entries and of their versions, and the bytes that these take."""
        counted = await self._session.execute(
            select(
                func.count(EntryRow.id.distinct()),
                func.count(EntryVersionRow.id),
                func.coalesce(func.sum(EntryVersionRow.stored_bytes), 0),
            )
            .select_from(EntryRow)
            .join(TenantRow, TenantRow.id == EntryRow.tenant_id)
            .outerjoin(EntryVersionRow, EntryVersionRow.entry_id == EntryRow.id)
            .where(TenantRow.name == tenant)
        )
        entries, versions, stored = counted.one()
        return entries, versions, int(stored)

    async def asked(self, tenant: str) -> int:
        """The number of distinct questions that the tenant has asked within a day."""
        counted = await self._session.execute(
            select(func.count())
            .select_from(QuestionRow)
            .join(TenantRow, TenantRow.id == QuestionRow.tenant_id)
            .where(TenantRow.name == tenant, QuestionRow.created_at > func.now() - DAY)
        )
        return counted.scalar_one()

    async def first_asked(self, tenant: str) -> float:
        """The seconds until the oldest question of the last day does not count any more."""
        oldest = await self._session.execute(
            select(func.extract("epoch", func.min(QuestionRow.created_at) + DAY - func.now()))
            .join(TenantRow, TenantRow.id == QuestionRow.tenant_id)
            .where(TenantRow.name == tenant, QuestionRow.created_at > func.now() - DAY)
        )
        return float(oldest.scalar() or 0.0)
