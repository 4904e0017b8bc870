"""References: each is computed by one job, and whoever waits for the last one is answered then."""

from collections.abc import Sequence

from aegis_advisor import MODEL_VERSION
from app.catalog.queue import JobQueue
from app.catalog.stores.advice import AdviceStore
from app.catalog.stores.contents import ContentStore
from app.catalog.stores.references import ReferenceStore
from app.domain.advice import Problem
from app.domain.entries import AttributeOutline
from app.domain.references import PackedReference
from app.services.chunks import chunks
from app.services.computation import ReferenceInput


class Reconstructing:
    """Asks for references, loads what they are computed from and stores them; each call in a short transaction.

    Advice whose references are missing is queued without a job. Whoever adds such advice, or stores references, or
    gives them up, locks the version first: so each sees what the one before has done, and no advice is forgotten.
    """

    def __init__(
        self, contents: ContentStore, references: ReferenceStore, advice: AdviceStore, queue: JobQueue
    ) -> None:
        self._contents = contents
        self._references = references
        self._advice = advice
        self._queue = queue

    async def ensure(self, version_id: int, outline: Sequence[AttributeOutline], places: Sequence[int]) -> bool:
        """Whether the references at `places` are stored. If not, jobs compute them.

        None of these jobs stores anything before the transaction ends, which is the time to say who waits for them.
        """
        if not await self._references.missing(version_id, MODEL_VERSION, places):
            return True
        await self._contents.lock(version_id)
        missing = await self._references.missing(version_id, MODEL_VERSION, places)
        claimed = await self._queue.claimed(version_id)
        await self._queue.reconstruct(version_id, chunks(outline, [one for one in missing if one not in claimed]))
        return not missing

    async def load(self, version_id: int, places: Sequence[int]) -> ReferenceInput | None:
        """What the references at `places` are computed from; None if they are stored, or the version is gone."""
        if await self._contents.hold(version_id) is None:
            return None
        missing = await self._references.missing(version_id, MODEL_VERSION, places)
        schema = await self._contents.schema(version_id)
        if not missing or schema is None:
            return None
        return ReferenceInput(schema, tuple(missing), await self._contents.count_tables(version_id, missing))

    async def store(self, version_id: int, places: Sequence[int], references: Sequence[PackedReference]) -> None:
        """Keep references, and enqueue the advice that waited for those at `places` and lacks no other now.

        Nothing happens if the version has been deleted meanwhile.
        """
        if not await self._contents.lock(version_id):
            return
        if references:
            await self._references.add(version_id, MODEL_VERSION, references)
        for advice_id in await self._advice.complete(version_id, MODEL_VERSION, places):
            await self._queue.advise(advice_id)

    async def give_up(self, version_id: int, places: Sequence[int], problem: Problem) -> None:
        """End the job for `places` without its references, and the advice that waits for them; a question may retry."""
        if not await self._contents.lock(version_id):
            return
        await self._queue.give_up(version_id, places)
        for advice_id in await self._advice.lacking(version_id, MODEL_VERSION, places):
            await self._advice.fail(advice_id, problem)
