"""The worker's side of advice: what a computation needs, and what becomes of its outcome."""

from aegis_advisor import MODEL_VERSION
from app.catalog.stores.advice import AdviceStore
from app.catalog.stores.contents import ContentStore
from app.catalog.stores.references import ReferenceStore
from app.domain.advice import Problem, Status
from app.services.computation import AdviceInput
from app.services.questions import needs_pairs, selected_places
from app.services.reconstructing import Reconstructing


class Answering:
    """Loads the input of computations and stores their outcome; each call belongs in a short transaction."""

    def __init__(
        self,
        contents: ContentStore,
        references: ReferenceStore,
        advice: AdviceStore,
        reconstructing: Reconstructing,
    ) -> None:
        self._contents = contents
        self._references = references
        self._advice = advice
        self._reconstructing = reconstructing

    async def begin(self, advice_id: str) -> AdviceInput | None:
        """Mark an advice as running, and what its answer is computed from.

        None if it is answered or gone already, or has to wait for references: the last of these enqueues it anew.
        """
        advice = await self._advice.find(advice_id)
        if advice is None or advice.status is Status.SUCCEEDED:
            return None
        frame = await self._contents.hold(advice.version_id)
        schema = await self._contents.schema(advice.version_id)
        if frame is None or schema is None:
            return None
        places = selected_places(advice.question, frame.outline)
        if not await self._reconstructing.ensure(advice.version_id, frame.outline, places):
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
        """Keep the answer and tell those who wait."""
        await self._advice.succeed(advice_id, result, elapsed_ms)

    async def fail(self, advice_id: str, problem: Problem) -> None:
        """Keep the reason why there is no answer and tell those who wait."""
        await self._advice.fail(advice_id, problem)
