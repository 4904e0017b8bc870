"""The deletion of expired data, in small parts, so that nobody waits long."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final

from sqlalchemy import TextClause, text

from app.audit.model import DELETE_VERSION
from app.platform.database.base import Store
from app.platform.http.idempotency import IdempotencyService
from app.platform.queue.queue import JobQueue
from app.requests.model.data_requests import OPEN
from app.requests.service.work import DataRequestWork
from app.webhooks.model import KEPT

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


#: How long failed jobs are stored, so that their cause can be found.
FAILED_JOBS_KEPT: Final = timedelta(days=7)


class Swept(StrEnum):
    """What is swept, in this order and in separate transactions, so that one fault does not stop the rest."""

    IDEMPOTENCY_KEYS = "idempotency_keys"
    DELIVERIES = "deliveries"
    SESSIONS = "sessions"
    UNDONE_JOBS = "undone_jobs"
    FAILED_JOBS = "failed_jobs"
    ANSWERED_REQUESTS = "answered_requests"
    REQUESTS = "requests"
    ADVICE = "advice"
    VERSIONS = "versions"


@dataclass(frozen=True, slots=True)
class Retention:
    """The retention periods of a service; None for no limit.

    Attributes:
        advice_days: days for which finished advice is stored.
        request_days: days without an action after which a data request expires.
        versions: the number of an entry's latest versions that are stored.
    """

    advice_days: int | None = None
    versions: int | None = None
    request_days: int | None = None


class RetentionService:
    """Deletes expired data and finishes abandoned work, a part in every transaction."""

    def __init__(
        self, store: RetentionStore, idempotency: IdempotencyService, requests: DataRequestWork, jobs: JobQueue
    ) -> None:
        self._store = store
        self._jobs = jobs
        self._requests = requests
        self._idempotency = idempotency

    async def sweep(self, what: Swept, retention: Retention) -> int:
        """Sweep a part of what is due unless another worker does; return the number of rows."""
        return await self._parts(retention)[what]() if await self._store.try_lock() else 0

    def _parts(self, retention: Retention) -> dict[Swept, Callable[[], Awaitable[int]]]:
        return {
            Swept.IDEMPOTENCY_KEYS: lambda: self._idempotency.forget(PART),
            Swept.DELIVERIES: lambda: self._store.delete_deliveries(KEPT),
            Swept.SESSIONS: self._store.delete_sessions,
            Swept.UNDONE_JOBS: self._redo,
            Swept.FAILED_JOBS: lambda: self._store.delete_failed_jobs(FAILED_JOBS_KEPT),
            # Jobs answer these when they end, unless they die first.
            Swept.ANSWERED_REQUESTS: self._requests.settle,
            Swept.REQUESTS: lambda: _aged(retention.request_days, self._requests.expire),
            Swept.ADVICE: lambda: _aged(retention.advice_days, self._store.delete_advice),
            Swept.VERSIONS: lambda: _limited(retention.versions, self._store.delete_versions),
        }

    async def _redo(self) -> int:
        await self._jobs.go_on_stalled()
        return await self._jobs.redo_failed(PART)


async def _aged(days: int | None, end: Callable[[timedelta], Awaitable[int]]) -> int:
    return 0 if days is None else await end(timedelta(days=days))


async def _limited(most: int | None, delete: Callable[[int], Awaitable[int]]) -> int:
    return 0 if most is None else await delete(most)
