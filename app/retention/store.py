"""The deletion of expired data, in small parts, so that nobody waits long."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from sqlalchemy import TextClause, text

from app.audit.model import DELETE_VERSION
from app.platform.database.base import Store
from app.requests.model.data_requests import OPEN

#: Rows deleted in a transaction.
PART: Final = 500

#: The states in which a data request still needs its advice and its version.
_OPEN = [state.value for state in OPEN]

_TRY_LOCK = text("SELECT pg_try_advisory_xact_lock(hashtextextended('retention', 0))")

# Advice that a question is using is locked, and left for the next sweep. A data request may arrive before the lock is
# taken, so a second statement checks again, and sees what was committed meanwhile.
_OLD_ADVICE = text(
    "SELECT id FROM advice WHERE status IN ('succeeded', 'failed') AND created_at < now() - :age "
    "AND NOT EXISTS (SELECT FROM data_request WHERE advice_id = advice.id AND state = ANY(:open)) "
    "ORDER BY created_at LIMIT :part FOR UPDATE SKIP LOCKED"
)
_ADVICE = text(
    "DELETE FROM advice WHERE id = ANY(:ids) "
    "AND NOT EXISTS (SELECT FROM data_request WHERE advice_id = advice.id AND state = ANY(:open)) RETURNING id"
)

# The latest version and the latest one that others see are never deleted.
_OLD_VERSIONS = text(
    "SELECT version.id FROM entry_version AS version "
    "JOIN entry ON entry.id = version.entry_id "
    # Implied by the next condition; for the index.
    "WHERE entry.latest_version > :kept AND version.version <= entry.latest_version - :kept "
    "AND version.version <> coalesce(entry.released_version, entry.latest_version) "
    "AND NOT EXISTS (SELECT FROM data_request WHERE version_id = version.id AND state = ANY(:open)) "
    "ORDER BY version.id LIMIT :part FOR UPDATE OF version SKIP LOCKED"
)
_VERSIONS = text(
    "WITH deleted AS (DELETE FROM entry_version WHERE id = ANY(:ids) "
    "AND NOT EXISTS (SELECT FROM data_request WHERE version_id = entry_version.id AND state = ANY(:open)) "
    "RETURNING entry_id, version, digest) "
    "INSERT INTO audit_record (action, entry_id, version, digest) "
    "SELECT :action, entry_id, version, digest FROM deleted RETURNING id"
).bindparams(action=DELETE_VERSION)

# Locked rows are left for the next sweep, since others lock them in another order. An array is looked up once, and its
# rows by the index; a subquery could be joined to the whole table.
_DELIVERIES = text(
    "DELETE FROM delivery WHERE id = ANY(ARRAY(SELECT id FROM delivery WHERE created_at < now() - :age "
    "ORDER BY created_at LIMIT :part FOR UPDATE SKIP LOCKED)) RETURNING id"
)

# Successful jobs are deleted when they end, with their events.
_FAILED_JOBS = text(
    "DELETE FROM procrastinate_jobs AS job WHERE id IN (SELECT id FROM procrastinate_jobs AS old "
    "WHERE status NOT IN ('todo', 'doing') AND NOT EXISTS "
    "(SELECT FROM procrastinate_events WHERE job_id = old.id AND at > now() - :age) "
    "ORDER BY id LIMIT :part FOR UPDATE SKIP LOCKED) RETURNING id"
)

_SESSIONS = text(
    "DELETE FROM console_session WHERE token_hash = ANY(ARRAY(SELECT token_hash FROM console_session "
    "WHERE expires_at < now() LIMIT :part FOR UPDATE SKIP LOCKED)) RETURNING expires_at"
)


class RetentionStore(Store):
    """Deletes expired data."""

    async def try_lock(self) -> bool:
        """Take the right to delete until the transaction ends; False if another process has it."""
        return bool((await self._session.execute(_TRY_LOCK)).scalar())

    async def delete_advice(self, age: timedelta) -> int:
        """Delete some finished advice older than `age`, with its questions; return the number."""
        return await self._delete(_OLD_ADVICE, _ADVICE, {"age": age})

    async def delete_versions(self, kept: int) -> int:
        """Delete some versions of entries with more than `kept`, with their advice; return their number."""
        return await self._delete(_OLD_VERSIONS, _VERSIONS, {"kept": kept})

    async def _delete(self, old: TextClause, deletion: TextClause, limits: Mapping[str, object]) -> int:
        ids = (await self._session.execute(old, {"part": PART, "open": _OPEN, **limits})).scalars().all()
        deleted = await self._session.execute(deletion, {"ids": ids, "open": _OPEN})
        return len(deleted.all())

    async def delete_deliveries(self, age: timedelta) -> int:
        """Delete some deliveries older than `age`; return their number."""
        deleted = await self._session.execute(_DELIVERIES, {"age": age, "part": PART})
        return len(deleted.all())

    async def delete_failed_jobs(self, age: timedelta) -> int:
        """Delete some jobs that failed before `age`; return their number."""
        return len((await self._session.execute(_FAILED_JOBS, {"age": age, "part": PART})).all())

    async def delete_sessions(self) -> int:
        """Delete some expired sessions; return their number."""
        return len((await self._session.execute(_SESSIONS, {"part": PART})).all())
