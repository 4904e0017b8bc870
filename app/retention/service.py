"""Retention of data."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final

from app.platform.http.idempotency import IdempotencyService
from app.platform.queue.queue import JobQueue
from app.requests.service.work import DataRequestWork
from app.retention.store import PART, RetentionStore
from app.webhooks.model import KEPT

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
