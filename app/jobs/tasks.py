"""The tasks that workers run. They may run more than once: what is stored already is left as it is."""

import time
from contextlib import suppress

import structlog
from procrastinate import App, JobContext, RetryStrategy

from app.advisor.errors import AdvisorError
from app.catalog.queue import ADVICE_TASK, REFERENCE_TASK
from app.catalog.session import Database
from app.child_process import ChildProcess
from app.domain.advice import Problem
from app.domain.errors import InvalidDocumentError
from app.factory import Factory
from app.services.computation import AdviceInput, compute_advice, compute_references

_log = structlog.get_logger(__name__)

#: A child process that died (out of memory, say) or a database that went away may not do so again; but what kills a
#: worker every time must not go round for ever.
ATTEMPTS = 3
_RETRY = RetryStrategy(max_attempts=ATTEMPTS, wait=1)
_GIVEN_UP = Problem("internal", "The computation failed; the worker's log says more.")
_TOO_HEAVY = Problem("too_heavy", "The computation took longer than this service allows (AEGIS_JOB_SECONDS).")


class Tasks:
    """What jobs do, in their three steps; never a transaction while computing."""

    def __init__(self, database: Database, queue: App, child: ChildProcess) -> None:
        self._database = database
        self._queue = queue
        self._child = child

    def register(self) -> None:
        """Make the tasks known to the queue under their names."""
        self._queue.task(name=REFERENCE_TASK, retry=_RETRY, pass_context=True)(self.reconstruct)
        self._queue.task(name=ADVICE_TASK, retry=_RETRY, pass_context=True)(self.advise)

    async def reconstruct(self, context: JobContext, version_id: int) -> None:
        """Compute and keep the references of a version, unless that has been done."""
        if context.job.attempts >= ATTEMPTS:
            return
        # What takes too long now will do so again: the question that needs it says so.
        with suppress(TimeoutError):
            await self._reconstruct(version_id)

    async def _reconstruct(self, version_id: int) -> None:
        async with self._database.transaction() as session:
            given = await Factory(session, self._queue).answering().missing_references(version_id)
        if given is None:
            return
        references = await self._child.run(compute_references, given)
        async with self._database.transaction() as session:
            await Factory(session, self._queue).answering().store_references(version_id, references)

    async def advise(self, context: JobContext, advice_id: str) -> None:
        """Answer an advice, or say why there is no answer."""
        if context.job.attempts >= ATTEMPTS:
            await self._fail(advice_id, _GIVEN_UP)
            return
        try:
            await self._answer(advice_id)
        except TimeoutError:
            await self._fail(advice_id, _TOO_HEAVY)
        except (AdvisorError, InvalidDocumentError) as error:
            await self._fail(advice_id, Problem(getattr(error, "code", "unanswerable"), str(error)))
        except Exception:
            if context.job.attempts + 1 < ATTEMPTS:
                raise
            _log.exception("advice failed", advice_id=advice_id)
            await self._fail(advice_id, _GIVEN_UP)

    async def _answer(self, advice_id: str) -> None:
        start = time.perf_counter()
        given = await self._begin(advice_id)
        if given is not None and given.lacks_references:
            await self._reconstruct(given.version_id)
            given = await self._begin(advice_id)
        if given is None:
            return
        result = await self._child.run(compute_advice, given)
        elapsed_ms = (time.perf_counter() - start) * 1e3
        async with self._database.transaction() as session:
            await Factory(session, self._queue).answering().succeed(advice_id, result, elapsed_ms)

    async def _begin(self, advice_id: str) -> AdviceInput | None:
        async with self._database.transaction() as session:
            return await Factory(session, self._queue).answering().begin(advice_id)

    async def _fail(self, advice_id: str, problem: Problem) -> None:
        async with self._database.transaction() as session:
            await Factory(session, self._queue).answering().fail(advice_id, problem)
