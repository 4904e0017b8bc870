"""The worker's side of advice: inputs and results of computations."""

from collections.abc import Sequence

from aegis_advisor import MODEL_VERSION
from app.advice.model.advice import Advice, AdviceQuestion
from app.advice.service.advice_input import AdviceInput, RecentInputs
from app.advice.service.costs import advice_cost, lane_of
from app.advice.service.questions import needs_pairs, selected_places
from app.advice.service.references import ReferenceService
from app.advice.store.advice import AdviceStore
from app.advice.store.references import ReferenceStore
from app.entries.model.entries import AttributeOutline, PackedConfigurations
from app.entries.store.contents import ContentStore
from app.platform.errors import SupersededError
from app.platform.queue.model import Lane, Problem, WrongLaneError
from app.webhooks.store.events import EventStore


class AdviceWork:
    """Loads inputs of computations and stores their results. Each call belongs in a short transaction."""

    def __init__(
        self,
        contents: ContentStore,
        references: ReferenceStore,
        advice: AdviceStore,
        events: EventStore,
        reconstruction: ReferenceService,
        recent: RecentInputs,
    ) -> None:
        self._contents = contents
        self._references = references
        self._advice = advice
        self._events = events
        self._reconstruction = reconstruction
        self._recent = recent

    async def begin(self, tenant: str, lane: Lane, advice_id: str) -> AdviceInput | None:
        """Mark an advice as running, and return the input of its computation.

        Returns None if the advice has ended or is deleted, or if references are missing: the job that stores the last
        of these enqueues it again.

        Raises:
            SupersededError: the question was asked of a version of the service with another model.
            WrongLaneError: the computation is too large for its lane.
        """
        advice = await self._advice.find(advice_id)
        if advice is None or advice.status.is_final or not await self._contents.pin(advice.version_id):
            return None
        if advice.model_version != MODEL_VERSION and not await self._advice.answer_by(advice_id, MODEL_VERSION):
            raise SupersededError("Another version of the service answers this question: ask it again.")
        given = self._recent.find(advice)
        if given is None:
            given = await self._load(tenant, lane, advice)
        else:
            _refuse_lane(lane, given.question, given.outline, given.places, given.configurations)
        if given is None:
            await self._advice.wait(advice_id)
            return None
        await self._advice.start(advice_id)
        return given

    async def _load(self, tenant: str, lane: Lane, advice: Advice) -> AdviceInput | None:
        """The input for a question; None if references are missing.

        Raises:
            WrongLaneError: the computation is too large for its lane.
        """
        frame = await self._contents.hold(advice.version_id)
        schema = await self._contents.schema(advice.version_id)
        if frame is None or schema is None:
            raise RuntimeError("a locked version was deleted")
        places = selected_places(advice.question, frame.outline)
        if not await self._reconstruction.ensure(tenant, advice.version_id, frame.outline, places):
            return None
        configurations = await self._contents.configuration_table(advice.version_id, frame)
        _refuse_lane(lane, advice.question, frame.outline, places, configurations)
        pairs = needs_pairs(advice.question, frame.outline)
        return AdviceInput.of(
            advice,
            frame.outline,
            places,
            schema,
            await self._contents.count_tables(advice.version_id, places, pairs=pairs),
            configurations,
            await self._references.load(advice.version_id, MODEL_VERSION, places),
        )

    async def succeed(self, advice_id: str, result: bytes, elapsed_ms: float) -> None:
        """Store the answer and wake the callers that wait for it."""
        if await self._advice.succeed(advice_id, result, elapsed_ms):
            await self._events.advice_ended(advice_id)

    async def fail(self, advice_id: str, problem: Problem) -> None:
        """Store the reason for a failure, and wake the callers that wait for the answer."""
        if await self._advice.fail(advice_id, problem):
            await self._events.advice_ended(advice_id)


def _refuse_lane(
    lane: Lane,
    question: AdviceQuestion,
    outline: Sequence[AttributeOutline],
    places: Sequence[int],
    configurations: PackedConfigurations,
) -> None:
    """Refuse a computation that is too large for its lane.

    Raises:
        WrongLaneError: it belongs in the heavy lane.
    """
    cost = advice_cost(question, outline, places, configurations.codes.shape[0])
    if lane is Lane.LIGHT and lane_of(cost) is Lane.HEAVY:
        raise WrongLaneError
