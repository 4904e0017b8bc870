"""The store of sessions of the console."""

from sqlalchemy import ColumnElement, and_, delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.callers.model.sessions import MOST_SESSIONS, Session
from app.callers.store.keys import to_key
from app.callers.tables.api_key import ApiKeyRow
from app.callers.tables.session import ConsoleSessionRow
from app.platform.callers import Caller, Role
from app.tenants.tables import TenantRow

_ROW = ConsoleSessionRow


class SessionStore:
    """Sessions, of which only hashes of their tokens are stored."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, token_hash: bytes, session: Session) -> None:
        """Store a new session. If its holder has too many, the oldest ones end."""
        self._session.add(_to_row(token_hash, session))
        await self._session.flush()
        older = select(_ROW.token_hash).where(_of_holder(session)).order_by(_ROW.created_at.desc())
        await self._session.execute(delete(_ROW).where(_ROW.token_hash.in_(older.offset(MOST_SESSIONS))))

    async def find(self, token_hash: bytes) -> Session | None:
        """The session whose token has this hash, valid or not."""
        rows = await self._session.execute(_SESSIONS.where(_ROW.token_hash == token_hash))
        return next((_to_session(row, key, tenant) for row, key, tenant in rows), None)

    async def delete(self, token_hash: bytes) -> bool:
        """Delete a session; False if it is gone already."""
        gone = delete(_ROW).where(_ROW.token_hash == token_hash).returning(_ROW.token_hash)
        return (await self._session.execute(gone)).first() is not None

    async def delete_all(self, session: Session) -> int:
        """Delete all sessions of the holder of this one; how many they were."""
        gone = delete(_ROW).where(_of_holder(session)).returning(_ROW.token_hash)
        return len((await self._session.execute(gone)).all())


_SESSIONS = (
    select(_ROW, ApiKeyRow, TenantRow.name)
    .outerjoin(ApiKeyRow, ApiKeyRow.prefix == _ROW.key_prefix)
    .outerjoin(TenantRow, TenantRow.id == ApiKeyRow.tenant_id)
)


def _of_holder(session: Session) -> ColumnElement[bool]:
    """Whether a row is a session of the same key, or of the same subject."""
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


def _to_session(row: ConsoleSessionRow, key_row: ApiKeyRow | None, tenant: str | None) -> Session:
    if key_row is not None:
        key = to_key(key_row, str(tenant))
        return Session(key.caller, row.expires_at, key=key)
    caller = Caller(str(row.tenant), frozenset(map(Role, row.roles or ())), row.subject)
    return Session(caller, row.expires_at, issuer=row.issuer)
