"""The deletion of expired data, in small parts, so that nobody waits long."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final

from sqlalchemy import TextClause, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.audit.model import DELETE_VERSION
from app.platform.http.idempotency import IdempotencyService
from app.platform.queue.queue import JobQueue
from app.requests.model.data_requests import OPEN
from app.requests.service.data_requests import DataRequestWork
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

# In the order of tenants, since their lines are locked.
_UNVALUED = text(
    "WITH pending AS (SELECT version_id, entry_id FROM worth WHERE state = 'pending' ORDER BY version_id LIMIT :part) "
    "SELECT DISTINCT version_id, (SELECT name FROM tenant WHERE id = "
    "(SELECT tenant_id FROM entry WHERE id = entry_id)) AS tenant FROM pending ORDER BY tenant"
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

#: How long failed jobs are stored, so that their cause can be found.
FAILED_JOBS_KEPT: Final = timedelta(days=7)


class Swept(StrEnum):
    """What is swept, in this order and in separate transactions, so that one fault does not stop the rest."""

    IDEMPOTENCY_KEYS = "idempotency_keys"
    DELIVERIES = "deliveries"
    SESSIONS = "sessions"
    UNDONE_JOBS = "undone_jobs"
    WORTH = "worth"
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


@dataclass(frozen=True, slots=True)
class RetentionService:
    """Deletes expired data and finishes abandoned work, a part in every transaction."""

    session: AsyncSession
    idempotency: IdempotencyService
    requests: DataRequestWork
    jobs: JobQueue

    async def sweep(self, what: Swept, retention: Retention) -> int:
        """Sweep a part of what is due unless another worker does; return the number of rows."""
        if not (await self.session.execute(_TRY_LOCK)).scalar():
            return 0
        match what:
            case Swept.IDEMPOTENCY_KEYS:
                rows = await self.idempotency.forget(PART)
            case Swept.DELIVERIES:
                rows = await self._delete(_DELIVERIES, age=KEPT)
            case Swept.SESSIONS:
                rows = await self._delete(_SESSIONS)
            case Swept.UNDONE_JOBS:
                await self.jobs.go_on_stalled()
                rows = await self.jobs.redo_failed(PART)
            case Swept.WORTH:
                await self._value()
                rows = 0
            case Swept.FAILED_JOBS:
                rows = await self._delete(_FAILED_JOBS, age=FAILED_JOBS_KEPT)
            case Swept.ANSWERED_REQUESTS:  # jobs answer these when they end, unless they die first
                rows = await self.requests.settle()
            case _:
                rows = await self._sweep_aged(what, retention)
        return rows

    async def _sweep_aged(self, what: Swept, retention: Retention) -> int:
        """Sweep what the settings may keep without limit."""
        if what is Swept.REQUESTS and retention.request_days is not None:
            return await self.requests.expire(timedelta(days=retention.request_days))
        if what is Swept.ADVICE and retention.advice_days is not None:
            return await self._delete_unneeded(_OLD_ADVICE, _ADVICE, age=timedelta(days=retention.advice_days))
        if what is Swept.VERSIONS and retention.versions is not None:
            return await self._delete_unneeded(_OLD_VERSIONS, _VERSIONS, kept=retention.versions)
        return 0

    async def _value(self) -> None:
        """Enqueue the jobs of versions without a worth: those from before there was any, or of an older service."""
        for row in (await self.session.execute(_UNVALUED, {"part": PART})).all():
            await self.jobs.value(row.tenant, row.version_id)

    async def _delete_unneeded(self, old: TextClause, deletion: TextClause, **limits: object) -> int:
        """Lock what no open request needs, and delete what none needs by then."""
        ids = (await self.session.execute(old, {"part": PART, "open": _OPEN, **limits})).scalars().all()
        deleted = await self.session.execute(deletion, {"ids": ids, "open": _OPEN})
        return len(deleted.all())

    async def _delete(self, deletion: TextClause, **limits: object) -> int:
        return len((await self.session.execute(deletion, {"part": PART, **limits})).all())
