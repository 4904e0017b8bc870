"""Advice: callers ask questions and read answers; workers compute the answers."""

from dataclasses import replace

from aegis_advisor import MODEL_VERSION
from app.catalog.queue import JobQueue
from app.catalog.stores.advice import AdviceStore, Asked
from app.catalog.stores.contents import ContentStore
from app.catalog.stores.entries import EntryStore
from app.catalog.stores.references import ReferenceStore
from app.domain.advice import Advice, AdviceQuestion, Problem, Status
from app.domain.callers import Caller
from app.domain.entries import Head
from app.domain.errors import NotFoundError
from app.services.computation import AdviceInput
from app.services.configurations import unpack_configurations
from app.services.questions import needs_pairs, refuse_unanswerable, selected_places
from app.services.references import ReferenceService


class AdviceService:
    """Questions and answers about entries that the caller may see."""

    def __init__(
        self,
        entries: EntryStore,
        contents: ContentStore,
        advice: AdviceStore,
        reconstruction: ReferenceService,
        queue: JobQueue,
    ) -> None:
        self._entries = entries
        self._contents = contents
        self._advice = advice
        self._reconstruction = reconstruction
        self._queue = queue

    async def ask(self, head: Head, question: AdviceQuestion) -> Asked:
        """Find or add the advice that answers `question` on this version.

        The job of a new advice is enqueued now, or by the last of the jobs whose references it waits for.

        Raises:
            InvalidDocumentError: this version cannot answer the question.
            NotFoundError: this version has just been deleted.
        """
        known = await self._advice.find_answer(head.version_id, question, MODEL_VERSION)
        # A queued advice goes on below: asking again restarts references whose jobs were lost.
        if known is not None and known.status is not Status.QUEUED:
            return known
        frame = await self._contents.hold(head.version_id)
        if frame is None:
            raise NotFoundError(f"Entry {head.id} has just been deleted.")
        packed = await self._contents.configuration_table(head.version_id, frame)
        has_pairs = not needs_pairs(question, frame.outline) or await self._contents.has_pairs(head.version_id)
        table = unpack_configurations(packed, frame.outline)
        refuse_unanswerable(question, frame.outline, table, has_pairs=has_pairs)
        places = selected_places(question, frame.outline)
        complete = await self._reconstruction.ensure(head.version_id, frame.outline, places)
        asked = await self._advice.find_or_add(head.version_id, question, MODEL_VERSION)
        if asked.is_new and complete:
            await self._queue.advise(asked.id)
        return asked

    async def read(self, caller: Caller, advice_id: str) -> Advice:
        """An advice on an entry that the caller may see now.

        Raises:
            NotFoundError: there is no such advice, or the caller may not see it.
        """
        advice = await self._advice.find(advice_id)
        head = None if advice is None else await self._entries.find(advice.entry_id)
        if advice is None or head is None or not head.is_visible_to(caller):
            raise NotFoundError(f"There is no advice {advice_id}, or you may not see it.")
        if advice.status.is_final:
            return advice
        return replace(advice, progress=await self._advice.progress(advice_id, MODEL_VERSION))


class AdviceWork:
    """Loads the input of computations and stores their results. Each call belongs in a short transaction."""

    def __init__(
        self,
        contents: ContentStore,
        references: ReferenceStore,
        advice: AdviceStore,
        reconstruction: ReferenceService,
    ) -> None:
        self._contents = contents
        self._references = references
        self._advice = advice
        self._reconstruction = reconstruction

    async def begin(self, advice_id: str) -> AdviceInput | None:
        """Mark an advice as running, and return the input of its computation.

        Returns None if the advice is already answered or deleted, or has to wait for references. In that case, the job
        of the last one enqueues the advice again.
        """
        advice = await self._advice.find(advice_id)
        if advice is None or advice.status is Status.SUCCEEDED:
            return None
        frame = await self._contents.hold(advice.version_id)
        schema = await self._contents.schema(advice.version_id)
        if frame is None or schema is None:
            return None
        places = selected_places(advice.question, frame.outline)
        if not await self._reconstruction.ensure(advice.version_id, frame.outline, places):
            await self._advice.wait(advice_id)
            return None
        await self._advice.start(advice_id)
        pairs = needs_pairs(advice.question, frame.outline)
        return AdviceInput(
            version_id=advice.version_id,
            question=advice.question,
            outline=frame.outline,
            places=tuple(places),
            schema=schema,
            count_tables=await self._contents.count_tables(advice.version_id, places, pairs=pairs),
            configurations=await self._contents.configuration_table(advice.version_id, frame),
            references=await self._references.load(advice.version_id, MODEL_VERSION, places),
        )

    async def succeed(self, advice_id: str, result: bytes, elapsed_ms: float) -> None:
        """Store the answer and wake the callers that wait for it."""
        await self._advice.succeed(advice_id, result, elapsed_ms)

    async def fail(self, advice_id: str, problem: Problem) -> None:
        """Store the reason why there is no answer, and wake the callers that wait for it."""
        await self._advice.fail(advice_id, problem)
