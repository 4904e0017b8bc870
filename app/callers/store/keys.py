"""The store of API keys."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import Select, func, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.callers.tables.api_key import ApiKeyRow
from app.platform.callers import ApiKey, Role
from app.tenants.store.tenants import tenant_id
from app.tenants.tables import TenantRow


class KeyStore:
    """API keys, of which only hashes and readable prefixes are stored."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def any_created(self) -> bool:
        """Whether a key was ever created, including revoked and expired ones."""
        return bool((await self._session.execute(select(select(ApiKeyRow.id).exists()))).scalar())

    async def wait_for_turn(self) -> None:
        """Until the end of the transaction, let no other process find out whether a first key is needed."""
        await self._session.execute(_ONE_FIRST)

    async def add(self, key: ApiKey, key_hash: bytes) -> None:
        """Store a new key; its tenant is created if it is new."""
        self._session.add(
            ApiKeyRow(
                prefix=key.prefix,
                key_hash=key_hash,
                tenant_id=await tenant_id(self._session, key.tenant),
                role=key.role.value,
                created_at=key.created_at,
                expires_at=key.expires_at,
                replaces=key.replaces,
            )
        )
        await self._session.flush()

    async def find(self, key_hash: bytes) -> ApiKey | None:
        """The key with this hash, valid or not."""
        return await self._one(_KEYS.where(ApiKeyRow.key_hash == key_hash))

    async def find_by_prefix(self, prefix: str, *, lock: bool = True) -> ApiKey | None:
        """The key with this prefix, valid or not; `lock` makes others wait who want to change it."""
        wanted = _KEYS.where(ApiKeyRow.prefix == prefix)
        return await self._one(wanted.with_for_update(of=ApiKeyRow) if lock else wanted)

    async def _one(self, statement: Select[ApiKeyRow, str]) -> ApiKey | None:
        rows = await self._session.execute(statement)
        return next((to_key(row, tenant) for row, tenant in rows), None)

    async def successors(self, prefixes: Sequence[str]) -> Mapping[str, str]:
        """By which keys those with these prefixes have been replaced; revoked successors do not count."""
        statement = select(ApiKeyRow.replaces, ApiKeyRow.prefix).where(
            ApiKeyRow.replaces.in_(prefixes), ApiKeyRow.revoked_at.is_(None)
        )
        return {str(replaced): prefix for replaced, prefix in await self._session.execute(statement)}

    async def lineage(self, prefix: str) -> frozenset[str]:
        """The prefixes of a key and of all keys that it has replaced, one after the other."""
        line = select(ApiKeyRow.prefix, ApiKeyRow.replaces).where(ApiKeyRow.prefix == prefix).cte(recursive=True)
        older = aliased(ApiKeyRow)
        line = line.union(select(older.prefix, older.replaces).where(older.prefix == line.c.replaces))
        return frozenset((await self._session.execute(select(line.c.prefix))).scalars())

    async def all(self) -> list[ApiKey]:
        """Every key ever created, in order of creation."""
        return [to_key(row, tenant) for row, tenant in await self._session.execute(_KEYS.order_by(ApiKeyRow.id))]

    async def page(self, tenant: str | None, limit: int, after: str | None) -> list[ApiKey]:
        """The keys of a tenant (of all tenants if None), newest first: at most `limit`, older than the one `after`."""
        wanted = _KEYS.order_by(ApiKeyRow.id.desc()).limit(limit)
        last = select(ApiKeyRow.id).join(TenantRow).where(ApiKeyRow.prefix == after)
        if tenant is not None:  # nor does a key of another tenant show by what follows it that it exists
            wanted, last = wanted.where(TenantRow.name == tenant), last.where(TenantRow.name == tenant)
        if after is not None:
            wanted = wanted.where(ApiKeyRow.id < last.scalar_subquery())
        return [to_key(row, name) for row, name in await self._session.execute(wanted)]

    async def note_use(self, prefix: str, now: datetime) -> None:
        """Keep when a key was last used."""
        await self._session.execute(update(ApiKeyRow).where(ApiKeyRow.prefix == prefix).values(last_used_at=now))

    async def set_expiry(self, prefix: str, expires_at: datetime) -> None:
        """Change when a key expires."""
        await self._session.execute(update(ApiKeyRow).where(ApiKeyRow.prefix == prefix).values(expires_at=expires_at))

    async def revoke(self, prefix: str) -> bool:
        """Revoke the key with this prefix; False if there is none. Revoking again keeps the time of the first."""
        revoked = await self._session.execute(
            update(ApiKeyRow)
            .where(ApiKeyRow.prefix == prefix)
            .values(revoked_at=func.coalesce(ApiKeyRow.revoked_at, func.now()))
            .returning(ApiKeyRow.id)
        )
        return revoked.first() is not None


_ONE_FIRST = text("SELECT pg_advisory_xact_lock(hashtextextended('the first key', 0))")
_KEYS = select(ApiKeyRow, TenantRow.name).join(TenantRow, TenantRow.id == ApiKeyRow.tenant_id)


def to_key(row: ApiKeyRow, tenant: str) -> ApiKey:
    """The key of a row."""
    return ApiKey(
        prefix=row.prefix,
        tenant=tenant,
        role=Role(row.role),
        created_at=row.created_at,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
        last_used_at=row.last_used_at,
        replaces=row.replaces,
    )
