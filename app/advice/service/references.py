"""References: computed by jobs; waiting advice is enqueued when its last reference is stored.

A small version takes one job, a large one a few dozen.
"""

from collections.abc import Sequence

from aegis_advisor import MODEL_VERSION
from app.advice.model.advice import PackedReference
from app.advice.service.computation import ReferenceInput
from app.advice.service.costs import lane_of, reference_cost
from app.advice.store.advice import AdviceStore
from app.advice.store.questions import QuestionStore
from app.advice.store.references import ReferenceStore
from app.entries.model.entries import AttributeOutline
from app.entries.store.contents import ContentStore
from app.platform.queue.model import Lane, Problem
from app.platform.queue.queue import JobQueue
from app.webhooks.store.events import EventStore

#: The smallest cost that justifies a job: 30 to 500 ms for iterated references. The job itself adds 15 ms.
SMALLEST = 5_000

#: The largest number of jobs for one version, since each loads the whole schema. With eight workers, four each.
MOST = 32


class ReferenceService:
    """Requests references, loads their inputs and stores them. Each call belongs in a short transaction.

    Advice with missing references is queued without a job. Adding such advice, storing references and giving them up
    all lock the version first: each sees the effects of the previous one, so no advice is forgotten.
    """

    def __init__(
        self,
        contents: ContentStore,
        references: ReferenceStore,
        advice: AdviceStore,
        questions: QuestionStore,
        events: EventStore,
        queue: JobQueue,
    ) -> None:
        self._contents = contents
        self._references = references
        self._advice = advice
        self._questions = questions
        self._events = events
        self._queue = queue

    async def ensure(
        self, tenant: str, version_id: int, outline: Sequence[AttributeOutline], places: Sequence[int]
    ) -> bool:
        """Whether the references at `places` are stored. If not, enqueue a tenant's jobs that compute them.

        These jobs cannot store anything before the transaction ends, so add the waiting advice before that.
        """
        if not await self._references.missing(version_id, MODEL_VERSION, places):
            return True
        await self._contents.lock(version_id)
        missing = await self._references.missing(version_id, MODEL_VERSION, places)
        claimed = await self._queue.claimed(tenant, version_id, MODEL_VERSION)
        chosen = chunks(outline, [one for one in missing if one not in claimed])
        await self._queue.reconstruct(tenant, version_id, MODEL_VERSION, chosen)
        return not missing

    async def load(self, version_id: int, places: Sequence[int]) -> ReferenceInput | None:
        """The input for computing the references at `places`; None if all are stored or the version is deleted."""
        if not await self._contents.pin(version_id):
            return None
        missing = await self._references.missing(version_id, MODEL_VERSION, places)
        schema = await self._contents.schema(version_id)
        if not missing or schema is None:
            return None
        return ReferenceInput(schema, tuple(missing), await self._contents.count_tables(version_id, missing))

    async def store(self, version_id: int, places: Sequence[int], references: Sequence[PackedReference]) -> None:
        """Store references, and enqueue the waiting advice that now has all references.

        Does nothing if the version has been deleted.
        """
        if not await self._contents.lock(version_id):
            return
        if references:
            await self._references.add(version_id, MODEL_VERSION, references)
        complete = await self._advice.complete(version_id, MODEL_VERSION, places)
        # In the order of tenants, whose queues are locked, to avoid deadlocks.
        for tenant, advice_id in await self._questions.tenants(complete):
            await self._queue.advise(tenant, advice_id)

    async def give_up(self, version_id: int, places: Sequence[int], problem: Problem) -> None:
        """End the job for `places` without references and fail the waiting advice; asking again starts a retry."""
        if not await self._contents.lock(version_id):
            return
        await self._queue.give_up(version_id, MODEL_VERSION, places)
        for advice_id in await self._advice.lacking(version_id, MODEL_VERSION, places):
            if await self._advice.fail(advice_id, problem):
                await self._events.advice_ended(advice_id)


def chunks(outline: Sequence[AttributeOutline], places: Sequence[int]) -> dict[tuple[int, ...], Lane]:
    """Split the attributes at `places`, in order, into chunks of about equal cost, one for each job, with its lane."""
    shares: dict[tuple[int, ...], Lane] = {}
    left = sum(reference_cost(outline[place]) for place in places)
    chunk: list[int] = []
    spent = 0
    for place in places:
        chunk.append(place)
        spent += reference_cost(outline[place])
        # The share is recomputed for each chunk: one above its share leaves less for the others.
        if spent >= left / max(1, min(MOST - len(shares), left // SMALLEST)):
            shares[tuple(chunk)] = lane_of(spent)
            left -= spent
            chunk, spent = [], 0
    return shares
