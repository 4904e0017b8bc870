"""The store of tenants and of the privacy that each requires."""

from dataclasses import asdict

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.catalog.stores.keys import tenant_id
from app.catalog.tables import TenantRow
from app.domain.required_privacy import RequiredPrivacy


class TenantStore:
    """Tenants by name."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def required_privacy(self, name: str) -> RequiredPrivacy:
        """What a tenant requires of the configurations of its entries; nothing if it is unknown."""
        stored = await self._session.execute(select(TenantRow.required_privacy).where(TenantRow.name == name))
        return RequiredPrivacy.from_json(stored.scalar())

    async def require_privacy(self, name: str, required: RequiredPrivacy) -> None:
        """Set what a tenant requires, instead of what it required before; the tenant is created if it is new."""
        change = update(TenantRow).where(TenantRow.id == await tenant_id(self._session, name))
        await self._session.execute(change.values(required_privacy=asdict(required) if required else {}))

    async def all(self) -> list[tuple[str, RequiredPrivacy]]:
        """Every tenant with what it requires, in the order of their names."""
        rows = await self._session.execute(select(TenantRow.name, TenantRow.required_privacy).order_by(TenantRow.name))
        return [(name, RequiredPrivacy.from_json(stored)) for name, stored in rows]
