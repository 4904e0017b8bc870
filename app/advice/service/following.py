"""Reactions of advice to changes of entries."""

from collections.abc import Sequence

from aegis_advisor import MODEL_VERSION
from app.advice.service.references import chunks
from app.advice.store.advice import AdviceStore
from app.entries.model.entries import AttributeOutline
from app.entries.service.catalogue import EntryFollower
from app.platform.queue.queue import JobQueue


class AdviceFollower(EntryFollower):
    """Requests references for new versions, and ends the waiting for advice on deleted entries."""

    def __init__(self, advice: AdviceStore, queue: JobQueue) -> None:
        self._advice = advice
        self._queue = queue

    async def version_added(self, tenant: str, version_id: int, outline: Sequence[AttributeOutline]) -> None:
        """Enqueue the jobs that compute all references of a new version."""
        await self._queue.reconstruct(tenant, version_id, MODEL_VERSION, chunks(outline, range(len(outline))))

    async def entry_ending(self, entry_id: str) -> None:
        """Wake the callers that wait for advice on the entry, at the commit."""
        await self._advice.wake_waiting(entry_id)
