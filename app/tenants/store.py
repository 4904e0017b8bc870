"""The stores of tenants' policies, quotas and usage."""

import uuid
from dataclasses import asdict
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from sqlalchemy import ColumnElement, bindparam, delete, func, or_, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.advice.tables import QuestionRow
from app.callers.tables import ApiKeyRow
from app.entries.tables import EntryRow, EntryVersionRow
from app.platform.database.base import Store
from app.platform.members import model_of
from app.tenants.model import (
    DAY,
    NO_DEMANDS,
    NO_QUOTA,
    Composed,
    CountedTenant,
    Quota,
    RequiredPrivacy,
    TenantPolicy,
    Usage,
)
from app.tenants.tables import TenantRow


class _Owned(Protocol):
    @property
    def tenant(self) -> str: ...


Owned = TypeVar("Owned", bound=_Owned)


async def tenant_id(session: AsyncSession, name: str) -> int:
    """The id of the tenant with this name, which is created if it is new."""
    known: int | None = (await session.execute(_TENANT, {"wanted": name})).scalar()
    if known is not None:
        return known
    await session.execute(insert(TenantRow).values(name=name).on_conflict_do_nothing())
    return (await session.execute(_TENANT, {"wanted": name})).scalar_one()


_TENANT = select(TenantRow.id).where(TenantRow.name == bindparam("wanted"))


class OwnedStore(Store, Generic[Owned]):
    """What tenants own: rows of a table, by id or tenant, each as a model."""

    _row: ClassVar[Any]
    _model: ClassVar[type[Any]]

    async def find(self, owned_id: str) -> Owned | None:
        """The one with this id."""
        try:
            wanted = uuid.UUID(owned_id)
        except ValueError:
            return None
        return next(iter(await self._where(self._row.id == wanted)), None)

    async def of_tenant(self, tenant: str) -> list[Owned]:
        """A tenant's, oldest first."""
        return await self._where(TenantRow.name == tenant)

    async def delete(self, owned_id: str) -> None:
        """Delete the one with this id, and what belongs to it."""
        await self._session.execute(delete(self._row).where(self._row.id == uuid.UUID(owned_id)))

    async def _where(self, condition: ColumnElement[bool]) -> list[Owned]:
        owner = TenantRow.id == self._row.tenant_id
        statement = select(self._row, TenantRow.name).join(TenantRow, owner).where(condition)
        ordered = statement.order_by(self._row.created_at, self._row.id)
        rows = await self._session.execute(ordered, execution_options={"populate_existing": True})
        return [model_of(self._model, row, tenant=tenant) for row, tenant in rows]

    async def _number(self, owner: int) -> int:
        counted = select(func.count()).select_from(self._row).where(self._row.tenant_id == owner)
        return (await self._session.execute(counted)).scalar_one()


class TenantStore(Store):
    """Tenants by name."""

    async def policy(self, name: str) -> TenantPolicy:
        """A tenant's policy; the empty one for an unknown tenant."""
        stored = await self._session.execute(select(TenantRow).where(TenantRow.name == name))
        return next(map(to_policy, stored.scalars()), NO_DEMANDS)

    async def set_policy(self, name: str, policy: TenantPolicy) -> None:
        """Replace a tenant's policy; the tenant is created if it is new."""
        required = policy.required_privacy
        await self._session.execute(
            update(TenantRow)
            .where(TenantRow.id == await tenant_id(self._session, name))
            .values(
                required_privacy=asdict(required) if required else {},
                demands_sign_off=policy.demands_sign_off,
                composition=policy.composition,
            )
        )

    async def all(self) -> list[tuple[str, TenantPolicy]]:
        """Every tenant with its policy, by name."""
        rows = await self._session.execute(select(TenantRow).order_by(TenantRow.name))
        return [(row.name, to_policy(row)) for row in rows.scalars()]

    async def counted(self, name: str | None, limit: int, after: str | None) -> list[CountedTenant]:
        """Tenants with their numbers by name: at most `limit`, or only the tenant `name`."""
        wanted = _COUNTED.order_by(TenantRow.name).limit(limit)
        if name is not None:
            wanted = wanted.where(TenantRow.name == name)
        if after is not None:
            wanted = wanted.where(TenantRow.name > after)
        return [
            CountedTenant(row.name, to_policy(row), entries, keys, asked)
            for row, entries, keys, asked in await self._session.execute(wanted)
        ]


def to_policy(row: TenantRow) -> TenantPolicy:
    """The policy in a tenant's row."""
    composition = None if row.composition is None else Composed(row.composition)
    return TenantPolicy(RequiredPrivacy.from_json(row.required_privacy), row.demands_sign_off, composition)


_HAS_ENDED = or_(ApiKeyRow.revoked_at.is_not(None), ApiKeyRow.expires_at <= func.now())
_COUNTED = select(
    TenantRow,
    select(func.count()).where(EntryRow.tenant_id == TenantRow.id).scalar_subquery(),
    select(func.count()).where(ApiKeyRow.tenant_id == TenantRow.id, ~_HAS_ENDED).scalar_subquery(),
    select(func.count())
    .where(QuestionRow.tenant_id == TenantRow.id, QuestionRow.created_at > func.now() - DAY)
    .scalar_subquery(),
)

_RUNNING = text(
    "SELECT coalesce(max(jobs), 0) FROM (SELECT count(*) AS jobs FROM procrastinate_jobs "
    "WHERE status = 'doing' AND args ->> 'tenant' = :tenant GROUP BY queue_name) AS lanes"
)


class QuotaStore(Store):
    """Quotas by the name of the tenant."""

    async def quota(self, tenant: str, *, lock: bool = False) -> Quota:
        """The tenant's own quota; with `lock`, other locking calls wait for this transaction."""
        wanted = select(TenantRow.quota).where(TenantRow.name == tenant)
        # Entries refer to the tenant, and adding one must not wait for a reader of the quota.
        stored = (await self._session.execute(wanted.with_for_update(key_share=True) if lock else wanted)).scalar()
        return Quota.from_numbers(stored) if stored else NO_QUOTA

    async def set_quota(self, tenant: str, quota: Quota) -> None:
        """Set the tenant's own quota; the tenant is created if it is new."""
        owner = await tenant_id(self._session, tenant)
        await self._session.execute(update(TenantRow).where(TenantRow.id == owner).values(quota=quota.numbers))

    async def usage(self, tenant: str) -> Usage:
        """The tenant's usage."""
        running = await self._session.execute(_RUNNING, {"tenant": tenant})
        entries, versions, stored = await self.stored(tenant)
        return Usage(entries, versions, stored, await self.asked(tenant), running.scalar_one())

    async def stored(self, tenant: str) -> tuple[int, int, int]:
        """The numbers of the tenant's entries and versions, and the versions' size in bytes."""
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
        """The seconds until the oldest question of the last day no longer counts."""
        oldest = await self._session.execute(
            select(func.extract("epoch", func.min(QuestionRow.created_at) + DAY - func.now()))
            .join(TenantRow, TenantRow.id == QuestionRow.tenant_id)
            .where(TenantRow.name == tenant, QuestionRow.created_at > func.now() - DAY)
        )
        return float(oldest.scalar() or 0.0)
