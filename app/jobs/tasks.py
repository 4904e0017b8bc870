"""The tasks that workers run. A task may run more than once, so it keeps results that are already stored."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import structlog
from procrastinate import App, JobContext, RetryStrategy

from aegis_advisor.errors import AdvisorError
from app.catalog.queue import ADVICE_TASK, REFERENCE_TASK
from app.catalog.session import Database
from app.domain.advice import Problem
from app.domain.errors import InvalidDocumentError
from app.factory import Factory
from app.process.child import ChildProcess
from app.services.advice import AdviceWork
from app.services.computation import compute_advice, compute_references
from app.services.references import ReferenceService

_log = structlog.get_logger(__name__)

#: A child process that died (for example out of memory) or a lost database connection is worth another attempt. But a
#: job that kills its worker every time must not be repeated for ever.
ATTEMPTS = 3
_RETRY = RetryStrategy(max_attempts=ATTEMPTS, wait=1)
_GIVEN_UP = Problem("internal", "The computation failed; see the worker's log.")
_TOO_HEAVY = Problem("too_heavy", "The computation took longer than this service allows (AEGIS_JOB_SECONDS).")


class Tasks:
    """The tasks, each in three steps: load, compute, store. No transaction is open during the computation."""

    def __init__(self, database: Database, queue: App, child: ChildProcess, reconstruction_seconds: float) -> None:
        self._database = database
        self._queue = queue
        self._child = child
        self._seconds = reconstruction_seconds

    def register(self) -> None:
        """Register the tasks with the queue under their names."""
        self._queue.task(name=REFERENCE_TASK, retry=_RETRY, pass_context=True)(self.reconstruct)
        self._queue.task(name=ADVICE_TASK, retry=_RETRY, pass_context=True)(self.advise)

    async def reconstruct(self, context: JobContext, version_id: int, attributes: list[int]) -> None:
        """Compute and store the references of some attributes; enqueue waiting advice that now has all it needs."""
        problem = await _problem(context, lambda: self._reconstruct(version_id, attributes))
        if problem is not None:
            async with self._references() as references:
                await references.give_up(version_id, attributes, problem)

    async def _reconstruct(self, version_id: int, attributes: list[int]) -> None:
        async with self._references() as references:
            given = await references.load(version_id, attributes)
        computed = [] if given is None else await self._child.run(compute_references, given, self._seconds)
        # Needed even without new references: another run may have stored them but died before enqueueing the advice.
        async with self._references() as references:
            await references.store(version_id, attributes, computed)

    async def advise(self, context: JobContext, advice_id: str) -> None:
        """Answer an advice, or store why there is no answer."""
        problem = await _problem(context, lambda: self._answer(advice_id))
        if problem is not None:
            async with self._advice_work() as work:
                await work.fail(advice_id, problem)

    async def _answer(self, advice_id: str) -> None:
        start = time.perf_counter()
        async with self._advice_work() as work:
            given = await work.begin(advice_id)
        if given is None:
            return
        result = await self._child.run(compute_advice, given)
        elapsed_ms = (time.perf_counter() - start) * 1e3
        async with self._advice_work() as work:
            await work.succeed(advice_id, result, elapsed_ms)

    @asynccontextmanager
    async def _references(self) -> AsyncIterator[ReferenceService]:
        async with self._database.transaction() as session:
            yield Factory(session, self._queue).references()

    @asynccontextmanager
    async def _advice_work(self) -> AsyncIterator[AdviceWork]:
        async with self._database.transaction() as session:
            yield Factory(session, self._queue).advice_work()


async def _problem(context: JobContext, work: Callable[[], Awaitable[None]]) -> Problem | None:
    """Do a job's work; return why it has failed for good, or None if it has not.

    Raises:
        Exception: the work failed, but the next attempt may succeed.
    """
    if context.job.attempts >= ATTEMPTS:
        return _GIVEN_UP
    try:
        await work()
    except TimeoutError:
        return _TOO_HEAVY
    except (AdvisorError, InvalidDocumentError) as error:
        return Problem(getattr(error, "code", "unanswerable"), str(error))
    except Exception:
        if context.job.attempts + 1 < ATTEMPTS:
            raise
        _log.exception("job failed", task=context.job.task_name, job_id=context.job.id, **context.job.task_kwargs)
        return _GIVEN_UP
    return None
