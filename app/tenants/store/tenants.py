"""The store of tenants and of what each asks of its entries."""

from dataclasses import asdict

from sqlalchemy import bindparam, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.advice.tables.question import QuestionRow
from app.callers.tables.api_key import ApiKeyRow
from app.entries.tables.entry import EntryRow
from app.tenants.model.policy import NO_DEMANDS, CountedTenant, TenantPolicy
from app.tenants.model.quotas import DAY
from app.tenants.model.required_privacy import RequiredPrivacy
from app.tenants.tables import TenantRow


async def tenant_id(session: AsyncSession, name: str) -> int:
    """The id of the tenant with this name, which is created if it is new."""
    known: int | None = (await session.execute(_TENANT, {"wanted": name})).scalar()
    if known is not None:
        return known
    await session.execute(insert(TenantRow).values(name=name).on_conflict_do_nothing())
    return (await session.execute(_TENANT, {"wanted": name})).scalar_one()


_TENANT = select(TenantRow.id).where(TenantRow.name == bindparam("wanted"))


class TenantStore:
    """Tenants by name."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def policy(self, name: str) -> TenantPolicy:
        """What a tenant asks of its entries; nothing if it is unknown."""
        stored = await self._session.execute(select(TenantRow).where(TenantRow.name == name))
        return next(map(to_policy, stored.scalars()), NO_DEMANDS)

    async def set_policy(self, name: str, policy: TenantPolicy) -> None:
        """Set what a tenant asks, instead of what it asked before; the tenant is created if it is new."""
        required = policy.required_privacy
        await self._session.execute(
            update(TenantRow)
            .where(TenantRow.id == await tenant_id(self._session, name))
            .values(required_privacy=asdict(required) if required else {}, demands_sign_off=policy.demands_sign_off)
        )

    async def all(self) -> list[tuple[str, TenantPolicy]]:
        """Every tenant with what it asks, in the order of their names."""
        rows = await self._session.execute(select(TenantRow).order_by(TenantRow.name))
        return [(row.name, to_policy(row)) for row in rows.scalars()]

    async def counted(self, name: str | None, limit: int, after: str | None) -> list[CountedTenant]:
        """Tenants with what they have, in the order of their names: at most `limit`, or the one of this name."""
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
    """What a tenant asks of its entries, as its row has it."""
    return TenantPolicy(RequiredPrivacy.from_json(row.required_privacy), row.demands_sign_off)


_HAS_ENDED = or_(ApiKeyRow.revoked_at.is_not(None), ApiKeyRow.expires_at <= func.now())
_COUNTED = select(
    TenantRow,
    select(func.count()).where(EntryRow.tenant_id == TenantRow.id).scalar_subquery(),
    select(func.count()).where(ApiKeyRow.tenant_id == TenantRow.id, ~_HAS_ENDED).scalar_subquery(),
    select(func.count())
    .where(QuestionRow.tenant_id == TenantRow.id, QuestionRow.created_at > func.now() - DAY)
    .scalar_subquery(),
)
