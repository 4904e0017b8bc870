"""The worker's side of advice: what a computation needs, and what becomes of its outcome."""

from collections.abc import Sequence

from app.advisor import MODEL_VERSION
from app.catalog.stores.advice import AdviceStore
from app.catalog.stores.contents import ContentStore
from app.catalog.stores.references import ReferenceStore
from app.domain.advice import Problem, Status
from app.domain.references import PackedReference
from app.services.computation import AdviceInput, ReferenceInput
from app.services.questions import selected_places


class Answering:
    """Loads the input of computations and stores their outcome; each call belongs in a short transaction."""

    def __init__(self, contents: ContentStore, references: ReferenceStore, advice: AdviceStore) -> None:
        self._contents = contents
        self._references = references
        self._advice = advice

    async def missing_references(self, version_id: int) -> ReferenceInput | None:
        """What the references of a version are computed from; None if they are stored, or the version is gone."""
        frame = await self._contents.hold(version_id)
        schema = await self._contents.schema(version_id)
        if frame is None or schema is None:
            return None
        if await self._references.count(version_id, MODEL_VERSION) == len(frame.outline):
            return None
        return ReferenceInput(schema, await self._contents.count_tables(version_id))

    async def store_references(self, version_id: int, references: Sequence[PackedReference]) -> None:
        """Keep the references of a version; nothing happens if it has been deleted meanwhile."""
        if await self._contents.hold(version_id) is not None:
            await self._references.add(version_id, MODEL_VERSION, references)

    async def begin(self, advice_id: str) -> AdviceInput | None:
        """Mark an advice as running, and what its answer is computed from; None if it is answered or gone already."""
        advice = await self._advice.find(advice_id)
        if advice is None or advice.status is Status.SUCCEEDED:
            return None
        frame = await self._contents.hold(advice.version_id)
        schema = await self._contents.schema(advice.version_id)
        if frame is None or schema is None:
            return None
        await self._advice.start(advice_id)
        places = selected_places(advice.question, frame.outline)
        return AdviceInput(
            version_id=advice.version_id,
            question=advice.question,
            outline=frame.outline,
            places=tuple(places),
            schema=schema,
            count_tables=await self._contents.count_tables(advice.version_id, places),
            configurations=await self._contents.configuration_table(advice.version_id, frame),
            references=await self._references.load(advice.version_id, MODEL_VERSION, places),
        )

    async def succeed(self, advice_id: str, result: bytes, elapsed_ms: float) -> None:
        """Keep the answer and tell those who wait."""
        await self._advice.succeed(advice_id, result, elapsed_ms)

    async def fail(self, advice_id: str, problem: Problem) -> None:
        """Keep the reason why there is no answer and tell those who wait."""
        await self._advice.fail(advice_id, problem)
