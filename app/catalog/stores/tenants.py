"""The store of tenants and of what each asks of its entries."""

from dataclasses import asdict

from sqlalchemy import bindparam, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.catalog.tables import TenantRow
from app.domain.required_privacy import RequiredPrivacy
from app.domain.tenants import NO_DEMANDS, TenantPolicy


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


def to_policy(row: TenantRow) -> TenantPolicy:
    """What a tenant asks of its entries, as its row has it."""
    return TenantPolicy(RequiredPrivacy.from_json(row.required_privacy), row.demands_sign_off)
