"""The worker's side of advice: references, inputs of computations, and their results.

References are computed by jobs: one for a small version, a few dozen for a large one. Waiting advice is enqueued when
its last reference is stored.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from anyio import to_thread

from aegis_advisor import MODEL_VERSION
from app.advice.model import Advice, AdviceQuestion, PackedReference, Status
from app.advice.service.advice_input import AdviceInput, RecentInputs
from app.advice.service.computation import ReferenceInput
from app.advice.service.questions import advice_cost, lane_of, needs_pairs, reference_cost, selected_places
from app.advice.service.tasks import label_place, task_of
from app.advice.service.worth import WorthInput, tasks_of
from app.advice.store.advice import AdviceStore, QuestionStore
from app.advice.store.references import ReferenceStore
from app.entries.model.configurations import LABEL, unpack_configurations
from app.entries.model.documents import masks_label
from app.entries.model.entries import AttributeOutline, PackedConfigurations
from app.entries.model.worth import Worth
from app.entries.service.catalogue import EntryFollower
from app.entries.store.contents import ContentStore, Frame
from app.entries.store.worth import WorthStore
from app.platform.errors import SupersededError
from app.platform.queue.model import Lane, Problem, WrongLaneError
from app.platform.queue.queue import JobQueue
from app.tenants.model import RequiredPrivacy
from app.tenants.store import TenantStore
from app.webhooks.store.events import EventStore

#: The smallest cost that justifies a job: 30 to 500 ms for iterated references. The job itself adds 15 ms.
SMALLEST = 5_000

#: The largest number of jobs for one version, since each loads the whole schema. With eight workers, four each.
MOST = 32


@dataclass(frozen=True, slots=True)
class ReferenceService:
    """Requests references, loads their inputs and stores them. Each call belongs in a short transaction.

    Advice with missing references is queued without a job. Adding such advice, storing references and giving them up
    all lock the version first: each sees the effects of the previous one, so no advice is forgotten.
    """

    _contents: ContentStore
    _references: ReferenceStore
    _advice: AdviceStore
    _questions: QuestionStore
    _events: EventStore
    _queue: JobQueue

    async def ensure(
        self, tenant: str, version_id: int, outline: Sequence[AttributeOutline], places: Sequence[int], first: int = 0
    ) -> bool:
        """Whether the references at `places` are stored. If not, enqueue a tenant's jobs that compute them.

        These jobs cannot store anything before the transaction ends, so add the waiting advice before that. `first`:
        the number of the first attribute's reference, by the label (`Task`).
        """
        numbers = [first + place for place in places]
        if not await self._references.missing(version_id, MODEL_VERSION, numbers):
            return True
        await self._contents.lock(version_id)
        missing = await self._references.missing(version_id, MODEL_VERSION, numbers)
        claimed = await self._queue.claimed(tenant, version_id, MODEL_VERSION)
        shares = chunks(outline, [one - first for one in missing if one not in claimed])
        chosen = {tuple(first + place for place in share): lane for share, lane in shares.items()}
        await self._queue.reconstruct(tenant, version_id, MODEL_VERSION, chosen)
        return not missing

    async def load(self, version_id: int, numbers: Sequence[int]) -> ReferenceInput | None:
        """The input for computing the references of these numbers, all of the same label.

        None if all are stored or the version is deleted.
        """
        if not await self._contents.pin(version_id):
            return None
        missing = await self._references.missing(version_id, MODEL_VERSION, numbers)
        schema = await self._contents.schema(version_id)
        if not missing or schema is None:
            return None
        label, _ = label_place(missing[0])
        places = [label_place(number)[1] for number in missing]
        chosen = places if label is None else [*places, label]
        with_pairs = label is not None or await to_thread.run_sync(masks_label, schema)
        tables = await self._contents.count_tables(version_id, chosen, pairs=with_pairs)
        return ReferenceInput(schema, tuple(places), tables, label)

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


@dataclass(frozen=True, slots=True)
class AdviceFollower(EntryFollower):
    """Requests references for new versions, and ends the waiting for advice on deleted entries."""

    _advice: AdviceStore
    _queue: JobQueue

    async def version_added(self, tenant: str, version_id: int, outline: Sequence[AttributeOutline]) -> None:
        """Enqueue the jobs that compute all references of a new version."""
        await self._queue.reconstruct(tenant, version_id, MODEL_VERSION, chunks(outline, range(len(outline))))

    async def entry_ending(self, entry_id: str) -> None:
        """Wake the callers that wait for advice on the entry, at the commit."""
        await self._advice.wake_waiting(entry_id)


@dataclass(frozen=True, slots=True)
class AdviceWork:
    """Loads inputs of computations and stores their results. Each call belongs in a short transaction."""

    _contents: ContentStore
    _references: ReferenceStore
    _advice: AdviceStore
    _events: EventStore
    _reconstruction: ReferenceService
    _recent: RecentInputs

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
            await self._advice.mark(advice_id, Status.QUEUED)
            return None
        await self._advice.mark(advice_id, Status.RUNNING)
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
        given, first = await input_of(self._contents, advice, frame, schema)
        if not await self._reconstruction.ensure(tenant, advice.version_id, given.outline, given.places, first):
            return None
        _refuse_lane(lane, advice.question, given.outline, given.places, given.configurations)
        numbers = [first + place for place in given.places]
        return replace(given, references=await self._references.load(advice.version_id, MODEL_VERSION, numbers))

    async def succeed(self, advice_id: str, result: bytes, elapsed_ms: float) -> None:
        """Store the answer and wake the callers that wait for it."""
        if await self._advice.succeed(advice_id, result, elapsed_ms):
            await self._events.advice_ended(advice_id)

    async def fail(self, advice_id: str, problem: Problem) -> None:
        """Store the reason for a failure, and wake the callers that wait for the answer."""
        if await self._advice.fail(advice_id, problem):
            await self._events.advice_ended(advice_id)


async def input_of(contents: ContentStore, advice: Advice, frame: Frame, schema: bytes) -> tuple[AdviceInput, int]:
    """The input of an answer without its references, and the number of the first reference of its label."""
    question, configurations = advice.question, await contents.configuration_table(advice.version_id, frame)
    outline, first, wanted = frame.outline, 0, list[int]()
    if question.label is not None:
        table = await to_thread.run_sync(unpack_configurations, configurations, outline)
        task = await to_thread.run_sync(task_of, schema, outline, table, question.label)
        outline, first, wanted = task.outline, task.first, [label_place(task.first)[0] or 0]
    places = selected_places(question, outline)
    # Pairs have the counts of other labels and of masked ones.
    pairs = needs_pairs(question, outline) or question.label is not None or LABEL in configurations.declared
    tables = await contents.count_tables(advice.version_id, [*places, *wanted], pairs=pairs)
    of_default = () if question.label is None else frame.outline
    given = (advice.version_id, advice.digest, question, outline, tuple(places), schema, tables, configurations)
    return AdviceInput(*given, of_default=of_default), first


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


@dataclass(frozen=True, slots=True)
class WorthWork:
    """Loads the input of the worth of a version, and stores it. Each call belongs in a short transaction."""

    _contents: ContentStore
    _worth: WorthStore
    _policies: TenantStore
    _events: EventStore

    async def load(self, version_id: int, tenant: str, required: RequiredPrivacy) -> WorthInput | None:
        """The input for the worth of a version; None if it is known, or the version is deleted.

        Args:
            required: the privacy that the service requires, besides the tenant.
        """
        frame = await self._contents.hold(version_id)
        schema = await self._contents.schema(version_id)
        if frame is None or schema is None or not await self._worth.is_pending(version_id):
            return None
        configurations = await self._contents.configuration_table(version_id, frame)
        policy = required.stricter_of((await self._policies.policy(tenant)).required_privacy)
        tables = await self._contents.count_tables(version_id)
        return WorthInput(schema, frame.outline, tables, configurations, policy)

    async def store(self, version_id: int, schema: bytes, worth: list[Worth]) -> None:
        """Store the worth of a version by the names of its labels and by their concepts."""
        tasks = await to_thread.run_sync(tasks_of, schema)
        by_task = ((task, [one for one in worth if one.label == label]) for task, label in tasks.items())
        await self._worth.store(version_id, by_task)
        await self._events.version_valued(version_id)

    async def give_up(self, version_id: int) -> None:
        """Say that the computation failed."""
        await self._worth.give_up(version_id)
