"""How long things are kept."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from app.catalog.queue import JobQueue
from app.catalog.stores.retention import PART, RetentionStore
from app.domain.webhooks import KEPT
from app.services.data_request_work import DataRequestWork
from app.services.idempotency import IdempotencyService

#: How long jobs are kept that failed for good, for whoever looks for the reason.
FAILED_JOBS_KEPT: Final = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Retention:
    """What a service keeps; None keeps it for ever.

    Attributes:
        advice_days: days for which finished advice is kept.
        request_days: days after which a request for data ends with which nobody does anything.
        versions: how many versions of an entry are kept: the latest ones.
    """

    advice_days: int | None = None
    versions: int | None = None
    request_days: int | None = None


class RetentionService:
    """Deletes what has been kept long enough, and does what was left undone, a part of it in each transaction."""

    def __init__(
        self, store: RetentionStore, idempotency: IdempotencyService, requests: DataRequestWork, jobs: JobQueue
    ) -> None:
        self._store = store
        self._jobs = jobs
        self._requests = requests
        self._idempotency = idempotency

    async def sweep(self, retention: Retention) -> int:
        """Delete, settle, end or do again a part of what is due, unless another worker does; how many rows."""
        if not await self._store.try_lock():
            return 0
        deleted = await self._idempotency.forget(PART)
        deleted += await self._store.delete_deliveries(KEPT)
        deleted += await self._store.delete_sessions()
        deleted += await self._jobs.redo_failed(PART)
        deleted += await self._store.delete_failed_jobs(FAILED_JOBS_KEPT)
        # Of jobs that died before they could, or of workers of an older version.
        deleted += await self._requests.settle()
        if retention.request_days is not None:
            deleted += await self._requests.expire(timedelta(days=retention.request_days))
        if retention.advice_days is not None:
            deleted += await self._store.delete_advice(timedelta(days=retention.advice_days))
        if retention.versions is not None:
            deleted += await self._store.delete_versions(retention.versions)
        return deleted
