"""The stores of API keys and of the console's sessions."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Select, and_, delete, func, select, text, update
from sqlalchemy.orm import aliased

from app.callers.tables import ApiKeyRow, ConsoleSessionRow
from app.platform.callers import MOST_SESSIONS, ApiKey, Caller, Role, Session
from app.platform.database.base import Store
from app.tenants.store import tenant_id
from app.tenants.tables import TenantRow


class KeyStore(Store):
    """API keys, stored as hashes with readable prefixes."""

    async def any_created(self, *, lock: bool = False) -> bool:
        """Whether a key was ever created, including revoked and expired ones.

        With `lock`, other processes that ask so wait until this transaction ends.
        """
        if lock:
            await self._session.execute(_ONE_FIRST)
        return bool((await self._session.execute(select(select(ApiKeyRow.id).exists()))).scalar())

    async def add(self, key: ApiKey, key_hash: bytes) -> None:
        """Store a new key, and its tenant if it is new."""
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
        """The key with this prefix, valid or not; `lock` locks it against changes by others."""
        wanted = _KEYS.where(ApiKeyRow.prefix == prefix)
        return await self._one(wanted.with_for_update(of=ApiKeyRow) if lock else wanted)

    async def _one(self, statement: Select[ApiKeyRow, str]) -> ApiKey | None:
        rows = await self._session.execute(statement)
        return next((to_key(row, tenant) for row, tenant in rows), None)

    async def successors(self, prefixes: Sequence[str]) -> Mapping[str, str]:
        """The successors of the keys with these prefixes, by prefix; revoked successors do not count."""
        statement = select(ApiKeyRow.replaces, ApiKeyRow.prefix).where(
            ApiKeyRow.replaces.in_(prefixes), ApiKeyRow.revoked_at.is_(None)
        )
        return {str(replaced): prefix for replaced, prefix in await self._session.execute(statement)}

    async def lineage(self, prefix: str) -> frozenset[str]:
        """The prefixes of a key and all its predecessors."""
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
        if tenant is not None:  # so that the order does not disclose another tenant's keys
            wanted, last = wanted.where(TenantRow.name == tenant), last.where(TenantRow.name == tenant)
        if after is not None:
            wanted = wanted.where(ApiKeyRow.id < last.scalar_subquery())
        return [to_key(row, name) for row, name in await self._session.execute(wanted)]

    async def change(self, prefix: str, **times: datetime) -> None:
        """Change the `last_used_at` or the `expires_at` of a key."""
        await self._session.execute(update(ApiKeyRow).where(ApiKeyRow.prefix == prefix).values(times))

    async def revoke(self, prefix: str) -> bool:
        """Revoke the key with this prefix; False if there is none. A second call does not change the time."""
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


_ROW = ConsoleSessionRow


class SessionStore(Store):
    """Sessions, stored with the hashes of their tokens."""

    async def add(self, token_hash: bytes, session: Session) -> None:
        """Store a new session. If its holder has too many, the oldest ones end."""
        self._session.add(_to_row(token_hash, session))
        await self._session.flush()
        older = select(_ROW.token_hash).where(_of_holder(session)).order_by(_ROW.created_at.desc())
        await self._session.execute(delete(_ROW).where(_ROW.token_hash.in_(older.offset(MOST_SESSIONS))))

    async def find(self, token_hash: bytes) -> Session | None:
        """The session whose token has this hash, valid or not."""
        for row, key_row, tenant in await self._session.execute(_SESSIONS.where(_ROW.token_hash == token_hash)):
            if key_row is not None:
                key = to_key(key_row, str(tenant))
                return Session(key.caller, row.expires_at, key=key)
            caller = Caller(str(row.tenant), frozenset(map(Role, row.roles or ())), row.subject)
            return Session(caller, row.expires_at, issuer=row.issuer)
        return None

    async def delete(self, token_hash: bytes) -> bool:
        """Delete a session; False if it is gone already."""
        gone = delete(_ROW).where(_ROW.token_hash == token_hash).returning(_ROW.token_hash)
        return (await self._session.execute(gone)).first() is not None

    async def delete_all(self, session: Session) -> int:
        """Delete all sessions of this session's holder; return their number."""
        gone = delete(_ROW).where(_of_holder(session)).returning(_ROW.token_hash)
        return len((await self._session.execute(gone)).all())


_SESSIONS = (
    select(_ROW, ApiKeyRow, TenantRow.name)
    .outerjoin(ApiKeyRow, ApiKeyRow.prefix == _ROW.key_prefix)
    .outerjoin(TenantRow, TenantRow.id == ApiKeyRow.tenant_id)
)


def _of_holder(session: Session) -> ColumnElement[bool]:
    if session.key is not None:
        return _ROW.key_prefix == session.key.prefix
    caller = session.caller
    return and_(_ROW.issuer == session.issuer, _ROW.tenant == caller.tenant, _ROW.subject == caller.subject)


def _to_row(token_hash: bytes, session: Session) -> ConsoleSessionRow:
    row = ConsoleSessionRow(token_hash=token_hash, expires_at=session.expires_at)
    if session.key is not None:
        row.key_prefix = session.key.prefix
        return row
    row.issuer, row.tenant, row.subject = session.issuer, session.caller.tenant, session.caller.subject
    row.roles = sorted(session.caller.roles)
    return row
