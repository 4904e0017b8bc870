"""References: each is computed by one job, and whoever waits for the last one is answered then.

Small versions are one job, large ones a few dozen.
"""

from collections.abc import Sequence

from aegis_advisor import MODEL_VERSION
from app.catalog.queue import JobQueue
from app.catalog.stores.advice import AdviceStore
from app.catalog.stores.contents import ContentStore
from app.catalog.stores.references import ReferenceStore
from app.domain.advice import PackedReference, Problem
from app.domain.entries import AttributeOutline
from app.services.computation import ReferenceInput

#: The least that is worth a job: 30 to 500 ms where references are iterated; a job costs 15 ms besides.
SMALLEST = 5_000

#: The most jobs for one version, since each loads the whole schema. Eight workers have four each.
MOST = 32


class ReferenceService:
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


def chunks(outline: Sequence[AttributeOutline], places: Sequence[int]) -> list[tuple[int, ...]]:
    """The attributes at `places`, in order, in chunks of about equal cost, one for each job."""
    shares: list[tuple[int, ...]] = []
    left = sum(cost(outline[place]) for place in places)
    chunk: list[int] = []
    spent = 0
    for place in places:
        chunk.append(place)
        spent += cost(outline[place])
        # Anew for each chunk: one that was more than its share leaves less for the others.
        if spent >= left / max(1, min(MOST - len(shares), left // SMALLEST)):
            shares.append(tuple(chunk))
            left -= spent
            chunk, spent = [], 0
    return shares


def cost(attribute: AttributeOutline) -> int:
    """About how much work a reference is: its cells times the views that constrain them; 1 where there is one at most.

    Bins of an ordered domain cut it into at most as many atoms as there are bins in all views together. Whether views
    nest, or have a closed form for another reason, only their mappings tell: such references take less.
    """
    views = [masking for masking in attribute.maskings if masking.counted and (masking.mapped or masking.drawn)]
    if attribute.joint or len(views) <= 1:
        return 1
    atoms = min(attribute.values, sum(view.occupied for view in views))
    return 1 + atoms * attribute.labels * len(views)
