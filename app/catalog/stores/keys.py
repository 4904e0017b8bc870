"""The store of tenants and their API keys."""

from datetime import datetime

from sqlalchemy import bindparam, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.catalog.tables import ApiKeyRow, TenantRow
from app.domain.callers import ApiKey, Role


async def tenant_id(session: AsyncSession, name: str) -> int:
    """The id of the tenant with this name, which is created if it is new."""
    known: int | None = (await session.execute(_TENANT, {"wanted": name})).scalar()
    if known is not None:
        return known
    await session.execute(insert(TenantRow).values(name=name).on_conflict_do_nothing())
    return (await session.execute(_TENANT, {"wanted": name})).scalar_one()


_TENANT = select(TenantRow.id).where(TenantRow.name == bindparam("wanted"))


class KeyStore:
    """API keys, of which only hashes and readable prefixes are stored."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def any_created(self) -> bool:
        """Whether a key was ever created, including revoked and expired ones."""
        return bool((await self._session.execute(select(select(ApiKeyRow.id).exists()))).scalar())

    async def add(self, prefix: str, key_hash: bytes, tenant: str, role: Role, expires_at: datetime | None) -> None:
        """Store a new key for `tenant`, which is created if it is new."""
        owner = await tenant_id(self._session, tenant)
        self._session.add(
            ApiKeyRow(prefix=prefix, key_hash=key_hash, tenant_id=owner, role=role.value, expires_at=expires_at)
        )
        await self._session.flush()

    async def find(self, key_hash: bytes) -> ApiKey | None:
        """The key with this hash, valid or not."""
        rows = await self._session.execute(_KEYS.where(ApiKeyRow.key_hash == key_hash))
        return next((_to_key(row, tenant) for row, tenant in rows), None)

    async def all(self) -> list[ApiKey]:
        """Every key ever created, in order of creation."""
        return [_to_key(row, tenant) for row, tenant in await self._session.execute(_KEYS.order_by(ApiKeyRow.id))]

    async def revoke(self, prefix: str) -> bool:
        """Revoke the key with this prefix; False if there is none. Revoking again keeps the time of the first."""
        revoked = await self._session.execute(
            update(ApiKeyRow)
            .where(ApiKeyRow.prefix == prefix)
            .values(revoked_at=func.coalesce(ApiKeyRow.revoked_at, func.now()))
            .returning(ApiKeyRow.id)
        )
        return revoked.first() is not None


_KEYS = select(ApiKeyRow, TenantRow.name).join(TenantRow, TenantRow.id == ApiKeyRow.tenant_id)


def _to_key(row: ApiKeyRow, tenant: str) -> ApiKey:
    return ApiKey(row.prefix, tenant, Role(row.role), row.created_at, row.expires_at, row.revoked_at)
