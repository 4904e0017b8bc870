"""Advice for callers: asking questions and reading answers, and for operators, the questions of all tenants."""

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from uuid import UUID

from anyio import to_thread

from aegis_advisor import MODEL_VERSION
from app.advice.model import USUAL, Advice, AdviceQuestion, Status, View
from app.advice.service.questions import (
    CountedPairs,
    needs_pairs,
    refuse_unanswerable,
    selected_places,
    usual_measure,
)
from app.advice.service.tasks import Askable, askable, counted_pairs, refuse_label, task_of, unanswered
from app.advice.service.views import refuse_beyond_coarse, view_for
from app.advice.service.work import ReferenceService
from app.advice.store.advice import AdviceStore, Asked, AskedRecord, QuestionStore, SpentBudget, TenantQuestion
from app.entries.model.configurations import ConfigurationTable, unpack_configurations
from app.entries.model.entries import AttributeOutline, Head
from app.entries.store.contents import ContentStore
from app.entries.store.entries import EntryStore
from app.platform.callers import Caller, refuse_name
from app.platform.errors import BudgetSpentError, Fault, InvalidDocumentError, NotFoundError, RoleNotAllowedError
from app.platform.queue.queue import JobQueue
from app.tenants.model import NOTHING_REQUIRED, RequiredPrivacy
from app.tenants.service import QuotaService

#: The number of cached versions, and the largest configuration table in cells and number of attributes of each.
MOST_KEPT, MOST_CELLS, MOST_ATTRIBUTES = 64, 100_000, 1_000

#: The largest number of attributes among which columns are looked for that could be labels, too.
MOST_COLUMNS = 60


@dataclass(frozen=True, slots=True, eq=False)
class KnownVersion:
    """The cached data of a label's task in a version, which never changes, except that references are added over time.

    Attributes:
        outline: the attributes of the label's task.
        table: the configurations that compete for it.
        first: the number of the first attribute's reference (`Task`).
        counted: the pairs of columns with counts, where a version with pairs may lack some; None: all have.
        stored: the places of attributes whose references are known to be stored; these are never removed.
    """

    outline: tuple[AttributeOutline, ...]
    table: ConfigurationTable
    first: int = 0
    counted: CountedPairs | None = None
    stored: set[int] = field(default_factory=set)


class RecentVersions:
    """The versions of recent questions."""

    def __init__(self) -> None:
        # With the digest, because another version may get the id after a backup is restored.
        self._kept: OrderedDict[tuple[int, str, str | None], KnownVersion] = OrderedDict()
        self._askable: OrderedDict[tuple[int, str], Askable] = OrderedDict()

    def find(self, head: Head, label: str | None = None) -> KnownVersion | None:
        """The cached data of a label in a version, which may have been deleted since; None: of the default label."""
        key = head.version_id, head.digest, label
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def keep(self, head: Head, known: KnownVersion, label: str | None = None) -> None:
        """Cache the data of a label in a version, unless it is large."""
        if known.table.codes.size > MOST_CELLS or len(known.outline) > MOST_ATTRIBUTES:
            return
        self._kept[head.version_id, head.digest, label] = known
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)

    def find_askable(self, head: Head) -> Askable | None:
        """The cached result of `AdviceService.askable`."""
        return self._askable.get((head.version_id, head.digest))

    def keep_askable(self, head: Head, found: Askable) -> None:
        """Cache this result."""
        self._askable[head.version_id, head.digest] = found
        if len(self._askable) > MOST_KEPT:
            self._askable.popitem(last=False)


@dataclass(frozen=True, slots=True)
class SeenAdvice:
    """An advice for one caller.

    Attributes:
        advice: with the id and the time of the caller's own question.
        is_stale: whether the caller sees a newer version of the entry than the advice is about.
    """

    advice: Advice
    view: View
    is_stale: bool = False


@dataclass(frozen=True, slots=True)
class QuestionRules:
    """The rules of a service for every question.

    Attributes:
        budget: the number of distinct questions about a version for a tenant with coarse answers.
        required: the privacy that the service requires of every configuration; the entry's tenant may require more.
    """

    budget: int
    required: RequiredPrivacy = NOTHING_REQUIRED


@dataclass(frozen=True, slots=True)
class AdviceService:
    """Questions and answers about entries that the caller may see."""

    _entries: EntryStore
    _contents: ContentStore
    _advice: AdviceStore
    _questions: QuestionStore
    _reconstruction: ReferenceService
    _quotas: QuotaService
    _queue: JobQueue
    _recent: RecentVersions

    async def ask(
        self, caller: Caller, head: Head, question: AdviceQuestion, rules: QuestionRules
    ) -> tuple[TenantQuestion, bool]:
        """Ask a question about the version of a head that the caller may see.

        Returns the tenant's question, and whether this call created its advice, which is not computed yet.

        Raises:
            InvalidDocumentError: this version cannot answer the question, or not for this caller.
            BudgetSpentError: the caller's tenant has used up its distinct questions about this version.
            QuotaSpentError: it has used up its distinct questions for a day.
            NotFoundError: the version has just been deleted.
        """
        label = None if question.label == head.label else question.label
        policy = rules.required.stricter_of(head.policy.required_privacy)
        question = replace(question, policy=policy, label=label)
        if question.measure == USUAL:
            question = question.by(await self._usual_measure(head, question))
        view = view_for(caller, head)
        if view is View.COARSE:
            refuse_beyond_coarse(question, (await self._version(head, label)).outline)
        asked = await self._asked(caller.tenant, head, question)
        own, is_first = await self._questions.add(asked.id, caller.tenant, view)
        if is_first:
            await self._quotas.admit_question(caller.tenant)
        if is_first and view is View.COARSE:
            await self._spend(caller, head, rules.budget)
        return own, asked.is_new

    async def questions_left(self, caller: Caller, head: Head, budget: int) -> int | None:
        """The number of distinct questions that the caller's tenant has left about a head's version; None: no limit.

        Args:
            budget: the total number for tenants with coarse answers.
        """
        if view_for(caller, head) is View.FULL:
            return None
        return max(budget - await self._questions.used(head.version_id, caller.tenant), 0)

    async def askable(self, head: Head) -> Askable:
        """What questions about a head's version can be about, besides the labels that it lists.

        Other columns are not tried in versions with more than `MOST_COLUMNS`, which can be asked nevertheless.

        Raises:
            NotFoundError: the version has just been deleted.
        """
        known = self._recent.find_askable(head)
        if known is not None:
            return known
        version = await self._version(head, None)
        schema = await self._contents.schema(head.version_id)
        if schema is None:
            return Askable()
        found = await to_thread.run_sync(askable, schema, version.outline, version.table, MOST_COLUMNS)
        self._recent.keep_askable(head, found)
        return found

    async def refuse_unsuitable(self, head: Head, question: AdviceQuestion, configuration: str) -> None:
        """Refuse a configuration that a version lacks, or that does not meet what a question requires, saying what.

        Raises:
            InvalidDocumentError: it is not one of those that compete for the question.
            NotFoundError: the version has just been deleted.
        """
        frame = await self._contents.hold(head.version_id)
        if frame is None:
            raise NotFoundError(f"Entry {head.id} has just been deleted.")
        packed = await self._contents.configuration_table(head.version_id, frame)
        table = await to_thread.run_sync(unpack_configurations, packed, frame.outline)
        if configuration not in table.ids:
            unmet = [f"Version {head.version} has no configuration {configuration!r}."]
        else:
            place = table.ids.index(configuration)
            unmet = table.unmet(place, question.required, question.policy, question.kinds)
            schema = await self._contents.schema(head.version_id)
            if schema is not None and (question.label is not None or question.target is not None):
                unmet += await to_thread.run_sync(unanswered, question, schema, table, configuration)
        if unmet:
            faults = tuple(Fault("/configuration", detail) for detail in unmet)
            detail = "The configuration asked for does not meet what the request requires."
            raise InvalidDocumentError(detail, faults, code="unsuitable_configuration")

    async def _version(self, head: Head, label: str | None) -> KnownVersion:
        """The data that decides which questions about a label a version can answer.

        Blocks its deletion until the transaction ends.

        Raises:
            NotFoundError: it has just been deleted.
            InvalidDocumentError: it cannot answer questions about this label.
        """
        known = self._recent.find(head, label)
        if known is not None and await self._contents.pin(head.version_id):
            return known
        frame = await self._contents.hold(head.version_id)
        if frame is None:
            raise NotFoundError(f"Entry {head.id} has just been deleted.")
        packed = await self._contents.configuration_table(head.version_id, frame)
        known = KnownVersion(frame.outline, unpack_configurations(packed, frame.outline, with_ids=False))
        is_one = label is None and len(head.labels) == 1
        schema = None if is_one else await self._contents.schema(head.version_id)
        if label is not None and schema is not None:
            task = await to_thread.run_sync(task_of, schema, known.outline, known.table, label)
            known = KnownVersion(task.outline, task.table, task.first, task.counted)
        elif schema is not None:
            known = replace(known, counted=await to_thread.run_sync(counted_pairs, schema))
        self._recent.keep(head, known, label)
        return known

    async def _usual_measure(self, head: Head, question: AdviceQuestion) -> str:
        version = await self._version(head, question.label)
        return usual_measure(question, version.outline, version.table, await self._counted(head, version))

    async def _counted(self, head: Head, version: KnownVersion) -> CountedPairs | None:
        """The pairs of columns with counts; None: all have."""
        return version.counted if await self._contents.has_pairs(head.version_id) else frozenset()

    async def _spend(self, caller: Caller, head: Head, budget: int) -> None:
        if await self._questions.count(head.version_id, caller.tenant) > budget:
            raise BudgetSpentError(
                f"0 of {budget} questions are left: your tenant has asked that many distinct ones about version "
                f"{head.version} of this entry. Those can be asked again while their advice is stored; the "
                f"entry's next version brings {budget} new ones."
            )

    async def _asked(self, tenant: str, head: Head, question: AdviceQuestion) -> Asked:
        """Find or add the advice that answers `question` on this version.

        The job of a new advice is enqueued now, or by the job that stores the last reference it waits for.

        Raises:
            InvalidDocumentError: this version cannot answer the question.
            NotFoundError: this version has just been deleted.
        """
        known = await self._advice.find_answer(head.version_id, question, MODEL_VERSION)
        # Queued advice is treated like new, so that asking again restarts references whose jobs were lost.
        if known is not None and known.status is not Status.QUEUED:
            return known
        version = await self._version(head, question.label)
        counted = await self._counted(head, version) if needs_pairs(question, version.outline) else None
        refuse_unanswerable(question, version.outline, version.table, counted)
        if question.target is not None or version.table.label_codes is not None:
            schema = await self._contents.schema(head.version_id)
            if schema is not None:
                await to_thread.run_sync(refuse_label, question, schema, version.table)
        places = selected_places(question, version.outline)
        complete = version.stored.issuperset(places)
        if not complete and await self._reconstruction.ensure(
            tenant, head.version_id, version.outline, places, version.first
        ):
            complete = True
            version.stored.update(places)
        asked = await self._advice.find_or_add(head.version_id, question, MODEL_VERSION, version.first)
        if complete and asked.status is Status.QUEUED:  # another tenant's job may be waiting in its queue
            await self._queue.advise(tenant, asked.id)
        return asked

    async def read(self, caller: Caller, question_id: str) -> SeenAdvice:
        """The advice that answers a question of the caller's tenant, on an entry that the caller may see now.

        Raises:
            NotFoundError: there is no such advice, or the caller may not see it.
        """
        question = await self._questions.find(question_id)
        seen = None if question is None else await self._seen(caller, question)
        if seen is None:
            raise NotFoundError(f"There is no advice {question_id}, or you may not see it.")
        return seen

    async def answer(self, caller: Caller, question: TenantQuestion) -> SeenAdvice:
        """The advice for a question that the caller has just asked.

        Raises:
            NotFoundError: the entry has been deleted, or the caller may not see it any more.
        """
        seen = await self._seen(caller, question)
        if seen is None:
            raise NotFoundError("The entry has just been deleted, or you may not see it any more.")
        return seen

    async def _seen(self, caller: Caller, question: TenantQuestion) -> SeenAdvice | None:
        """The advice for a question; None if the caller may not see it."""
        advice = await self._advice.find(question.advice_id)
        head = None if advice is None else await self._entries.find(caller, advice.entry_id, advice.version)
        if advice is None or head is None or not head.is_visible_to(caller):
            return None
        if not caller.is_operator and caller.tenant != question.tenant:
            return None
        view = view_for(caller, head)
        if view is View.COARSE and question.view != View.COARSE:  # it may be refused to callers with coarse answers
            return None
        if not advice.status.is_final:
            advice = replace(advice, progress=await self._advice.progress(advice.id, MODEL_VERSION))
        own = replace(advice, id=question.id, created_at=question.created_at, digest=head.seen_by(caller).digest)
        if not head.shows_counts_to(caller):  # it would reveal that somebody else asked the same
            own = replace(own, elapsed_ms=None)
        return SeenAdvice(own, view, head.version < head.latest_seen_by(caller))


@dataclass(frozen=True, slots=True)
class AskedQuestions:
    """Questions of all tenants, and their used budgets."""

    _questions: QuestionStore

    async def page(
        self, caller: Caller, tenant: str | None, entry_id: UUID | None, limit: int, page_token: str | None
    ) -> tuple[list[AskedRecord], str | None]:
        """A page of questions, newest first, and the next page's token.

        Raises:
            RoleNotAllowedError: the caller is not an operator.
            InvalidDocumentError: the page token is invalid.
        """
        _refuse_others(caller, tenant)
        return await self._questions.page(tenant, entry_id, limit, page_token)

    async def spent(self, caller: Caller, tenant: str | None, entry_id: UUID | None, limit: int) -> list[SpentBudget]:
        """Used budgets of tenants by version, the largest first.

        Raises:
            RoleNotAllowedError: the caller is not an operator.
        """
        _refuse_others(caller, tenant)
        return await self._questions.spent(tenant, entry_id, limit)


def _refuse_others(caller: Caller, tenant: str | None) -> None:
    if not caller.is_operator:
        raise RoleNotAllowedError("Only operators may list questions.")
    if tenant is not None:
        refuse_name(tenant)
