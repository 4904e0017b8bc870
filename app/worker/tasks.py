"""The tasks of workers. A task may run more than once, so it does not overwrite stored results."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar, TypeVarTuple, Unpack

import structlog
from procrastinate import App, JobContext, RetryStrategy

from aegis_advisor.errors import AdvisorError
from app.advice.service.advice_input import RecentInputs
from app.advice.service.computation import compute_advice, compute_references
from app.advice.service.worth import compute_worth
from app.entries.service.publications import UNDECIDED, compute_verdict
from app.factory import Factory
from app.platform.database.session import Database, commit_now
from app.platform.errors import (
    DatabaseUnavailableError,
    InvalidDocumentError,
    OverloadedError,
    SchemaMismatchError,
    SupersededError,
)
from app.platform.process.child import ChildProcess
from app.platform.queue.lanes import JobWatch, Task
from app.platform.queue.model import Lane, Outcome, Problem, WrongLaneError
from app.platform.queue.presence import ATTEMPTS
from app.platform.queue.queue import ADVICE_TASK, CEILING, REFERENCE_TASK, VERDICT_TASK, WORTH_TASK, Job
from app.tenants.model import NOTHING_REQUIRED, RequiredPrivacy

Given = TypeVarTuple("Given")
Result = TypeVar("Result")

_log = structlog.get_logger(__name__)

#: The repetitions of a step while the database is unreachable, and the seconds before each.
_PATIENCE, _PAUSE = 20, 1.0

#: Errors that are not the job's fault. A worker of an incompatible version stops within seconds and gives back its job.
_AWAY = (DatabaseUnavailableError, OverloadedError, SchemaMismatchError)

#: The step before a computation. If there is nothing to compute, its own changes are the result.
_LOAD = "load"

# A job whose child process died (out of memory, for example) is tried again. The work is given up after `ATTEMPTS`, but
# there is no limit here, since that must still be stored.
_RETRY = RetryStrategy(wait=1, linear_wait=1)
_GIVEN_UP = Problem("internal", "The computation failed; see the worker's log.")
_TOO_HEAVY = Problem("too_heavy", "The computation took longer than this service allows (AEGIS_JOB_SECONDS).")


class Tasks:
    """The tasks, each in three steps: load, compute, store. No transaction is open during the computation.

    Args:
        children: the processes that compute, one for each lane.
        reconstruction_seconds: seconds after which the reconstruction of an attribute stops, converged or not.
        ceiling: a tenant's most concurrent jobs in a lane.
        required: the privacy that the service requires of every configuration.
    """

    def __init__(
        self,
        database: Database,
        queue: App,
        children: Mapping[Lane, ChildProcess],
        reconstruction_seconds: float,
        ceiling: int = CEILING,
        watch: JobWatch | None = None,
        required: RequiredPrivacy = NOTHING_REQUIRED,
    ) -> None:
        self._database = database
        self._queue = queue
        self._children = children
        self._seconds = reconstruction_seconds
        self._ceiling = ceiling
        self._watch = watch or JobWatch()
        self._recent = RecentInputs()
        self._required = required

    def register(self) -> None:
        """Register the tasks with the queue under their names."""
        tasks: dict[str, Task] = {
            REFERENCE_TASK: self.reconstruct,
            ADVICE_TASK: self.advise,
            VERDICT_TASK: self.judge,
            WORTH_TASK: self.value,
        }
        for name, task in tasks.items():
            self._queue.task(name=name, retry=_RETRY, pass_context=True)(self._watch.watched(task))

    async def _carry_out(
        self,
        context: JobContext,
        tenant: str,
        work: Callable[[], Awaitable[None]],
        give_up: Callable[[Factory, Problem], Awaitable[None]],
    ) -> Outcome:
        """Do a job's work, or give it up for good, repeat it if it was too heavy, and move on the tenant's line."""
        outcome = await _outcome(context, work)

        async def end(services: Factory) -> None:
            if outcome.problem is not None:
                await give_up(services, outcome.problem)
            if outcome.is_heavy:
                arguments = {name: value for name, value in context.job.task_kwargs.items() if name != "tenant"}
                claim = context.job.queueing_lock or f"job {context.job.id}"
                again = Job(context.job.task_name, arguments, claim)
                await services.jobs().enqueue(tenant, Lane.HEAVY, [again])
            await services.jobs().go_on(tenant, _lane(context), ended=context.job.id or 0)

        await self._step("end", end)
        return outcome

    async def reconstruct(self, context: JobContext, tenant: str, version_id: int, attributes: list[int]) -> Outcome:
        """Compute and store the references of some attributes; enqueue advice that waited only for these."""
        outcome = await self._carry_out(
            context,
            tenant,
            lambda: self._reconstruct(_lane(context), version_id, attributes),
            lambda services, problem: services.references().give_up(version_id, attributes, problem),
        )
        if outcome.problem is not None:
            await self._settle()
        return outcome

    async def _reconstruct(self, lane: Lane, version_id: int, attributes: list[int]) -> None:
        given = await self._step(_LOAD, lambda services: services.references().load(version_id, attributes))
        computed = [] if given is None else await self._compute(lane, compute_references, given, self._seconds)
        for reference in computed:
            self._watch.metrics.residuals.observe(reference.certificate.residual)
        # Needed even without new references: a previous run may have died before enqueueing the advice.
        await self._step("store", lambda services: services.references().store(version_id, attributes, computed))

    async def advise(self, context: JobContext, tenant: str, advice_id: str) -> Outcome:
        """Answer an advice, or store why there is no answer."""
        outcome = await self._carry_out(
            context,
            tenant,
            lambda: self._answer(_lane(context), tenant, advice_id),
            lambda services, problem: services.advice_work(self._recent).fail(advice_id, problem),
        )
        await self._settle()
        return outcome

    async def _settle(self) -> None:
        """Answer the data requests whose advice is finished, also those of a run that died before this step.

        They do not belong to this job, so a failure does not repeat it. Sweeps try again.
        """
        try:
            while await self._step("settle", lambda services: services.data_request_work().settle()):
                pass
        except Exception:  # noqa: BLE001 -- it is logged, and nothing of this job
            _log.exception("requests not answered")

    async def _answer(self, lane: Lane, tenant: str, advice_id: str) -> None:
        start = time.perf_counter()
        given = await self._step(_LOAD, lambda it: it.advice_work(self._recent).begin(tenant, lane, advice_id))
        if given is None:
            return
        result = await self._compute(lane, compute_advice, given)
        self._recent.keep(given)  # only now is it known to be valid
        elapsed_ms = (time.perf_counter() - start) * 1e3
        await self._step("store", lambda it: it.advice_work(self._recent).succeed(advice_id, result, elapsed_ms))

    async def judge(self, context: JobContext, tenant: str, version_id: int) -> Outcome:
        """Judge the disclosure by the counts of a version; without a verdict, the version does not pass."""
        return await self._carry_out(
            context,
            tenant,
            lambda: self._judge(_lane(context), version_id),
            lambda services, _: services.verdicts().store(version_id, UNDECIDED),
        )

    async def _judge(self, lane: Lane, version_id: int) -> None:
        given = await self._step(_LOAD, lambda services: services.verdicts().load(version_id))
        if given is None:
            return
        verdict = await self._compute(lane, compute_verdict, given, self._seconds)
        await self._step("store", lambda services: services.verdicts().store(version_id, verdict))

    async def value(self, context: JobContext, tenant: str, version_id: int) -> Outcome:
        """Compute what the tables of a version are worth, for searches."""
        return await self._carry_out(
            context,
            tenant,
            lambda: self._value(_lane(context), tenant, version_id),
            lambda services, _: services.worth().give_up(version_id),
        )

    async def _value(self, lane: Lane, tenant: str, version_id: int) -> None:
        given = await self._step(_LOAD, lambda services: services.worth().load(version_id, tenant, self._required))
        if given is None:
            return
        worth = await self._compute(lane, compute_worth, given)
        await self._step("store", lambda services: services.worth().store(version_id, given.schema, worth))

    async def _compute(self, lane: Lane, function: Callable[[Unpack[Given]], Result], *given: *Given) -> Result:
        with self._watch.step("compute"):
            return await self._children[lane].run(function, *given)

    async def _step(self, step: str, work: Callable[[Factory], Awaitable[Result]]) -> Result:
        """Do a step of a job in its own transaction; repeat it if the database became unreachable.

        Otherwise a short outage would cost the job its computation and one of its few attempts.

        Raises:
            RefusalError: the database is still unreachable or too slow, or incompatible with this version.
        """
        for _ in range(_PATIENCE):
            try:
                return await self._once(step, work)
            except _AWAY as error:
                _log.warning("step repeated without the database", step=step, error=error.code)
                await asyncio.sleep(_PAUSE)
        return await self._once(step, work)

    async def _once(self, step: str, work: Callable[[Factory], Awaitable[Result]]) -> Result:
        with self._watch.step(step):
            async with self._database.transaction() as session:
                result = await work(Factory(session, self._queue, self._ceiling))
                # Results must be on disk before the job is deleted: nothing would repeat it after a server crash.
                # The start of a computation may be lost, since the job still exists.
                if step != _LOAD or result is None:
                    await commit_now(session)
                return result


def _lane(context: JobContext) -> Lane:
    return Lane(context.job.queue)


async def _outcome(context: JobContext, work: Callable[[], Awaitable[None]]) -> Outcome:
    """Do a job's work."""
    if context.job.attempts >= ATTEMPTS:
        return Outcome(_GIVEN_UP)
    try:
        await work()
    except WrongLaneError:
        return Outcome(is_heavy=True)
    except TimeoutError:
        return Outcome(is_heavy=True) if _lane(context) is Lane.LIGHT else Outcome(_TOO_HEAVY)
    except (AdvisorError, InvalidDocumentError, SupersededError) as error:
        return Outcome(Problem(getattr(error, "code", "unanswerable"), str(error)))
    except Exception:
        if context.job.attempts + 1 < ATTEMPTS:
            raise
        _log.exception("job failed", task=context.job.task_name, **context.job.task_kwargs)
        return Outcome(_GIVEN_UP)
    return Outcome()
