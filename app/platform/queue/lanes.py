"""The two lanes of a worker: each runs the jobs of its queue in turn, with a log line, metrics and a span per try."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Final

import structlog
from opentelemetry.trace import Span, SpanKind, Tracer
from procrastinate import App, JobContext
from procrastinate.exceptions import ConnectorException, UniqueViolation
from procrastinate.jobs import Job, Status
from procrastinate.manager import JobManager
from procrastinate.worker import Worker
from prometheus_client import CollectorRegistry
from psycopg import OperationalError
from psycopg.errors import ForeignKeyViolation

from app.platform.log import bound
from app.platform.process.child import ChildProcess
from app.platform.queue.model import Lane, Outcome, Problem
from app.platform.queue.presence import Presence
from app.platform.telemetry import UNTRACED, JobMetrics, context_of, span

_log = structlog.get_logger(__name__)

#: Seconds between two heartbeats of a worker, and between two polls for jobs.
HEARTBEAT: Final = 1.0
POLLING: Final = 0.5

#: Attempts to store the end of a job while the database is unreachable, one per heartbeat.
_PATIENCE: Final = 20

#: Seconds between two checks whether a worker is registered, or can no longer stop gracefully.
_LOOK: Final = 0.1

#: Years: Procrastinate cannot distinguish slow workers from dead ones, so it must neither send nor judge heartbeats.
_NEVER: Final = 10 * 365 * 86_400.0


class PresentJobs(JobManager):
    """Procrastinate's access to jobs, for workers that fetch none without a lock, and give unfinished ones back."""

    def __init__(self, queue: App, presence: Presence) -> None:
        super().__init__(queue.connector)
        self._presence = presence
        self.unfinished: dict[int, int | None] = {}  # with their workers

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:
        """The next job; none while the worker has no lock or no row, or the database is unreachable."""
        if not self._presence.holds(worker_id):
            return None
        try:
            return await super().fetch_job(queues, worker_id)
        except ConnectorException as error:
            if isinstance(error.__cause__, (ForeignKeyViolation, OperationalError)):
                return None
            raise

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:  # noqa: FBT001 -- Procrastinate's
        """End a job, once the database is reachable, since the job would otherwise be repeated."""
        for _ in range(_PATIENCE):
            try:
                return await super().finish_job(job, status, delete_job)
            except ConnectorException as error:
                if not isinstance(error.__cause__, OperationalError):
                    raise
            await asyncio.sleep(HEARTBEAT)
        return await super().finish_job(job, status, delete_job)

    async def retry_job(
        self,
        job: Job,
        retry_at: datetime | None = None,
        priority: int | None = None,
        queue: str | None = None,
        lock: str | None = None,
    ) -> None:
        """Retry a job: later if it failed, at once by another worker if this one stops."""
        if job.id is not None and job.id in self.unfinished:
            await self._presence.give_back(job.id, self.unfinished.pop(job.id))
            return
        try:
            await super().retry_job(job, retry_at, priority, queue, lock)
        except UniqueViolation:  # another job was enqueued meanwhile and has the claim
            await self._presence.give_back(job.id or 0, job.worker_id)


class LaneWorker(Worker):
    """Procrastinate's worker for a lane, which knows its running jobs.

    Args:
        stop_seconds: seconds after which it gives back its job when it must stop.
    """

    def __init__(self, queue: App, lane: Lane, jobs: PresentJobs, stop_seconds: float) -> None:
        super().__init__(
            queue,
            queues=[lane.value],
            name=lane.value,
            concurrency=1,
            fetch_job_polling_interval=POLLING,
            shutdown_graceful_timeout=stop_seconds,
            update_heartbeat_interval=_NEVER,
            stalled_worker_timeout=_NEVER,
            delete_jobs="successful",
            install_signal_handlers=False,
            worker_middleware=[self._noted],
        )
        self._jobs = jobs
        self.running: set[int] = set()
        self._is_ending = False

    @property
    def is_present(self) -> bool:
        """Whether it needs heartbeats: one that stops without a job removes its row itself."""
        return self.worker_id is not None and not (self._is_ending and not self.running)

    def stop(self) -> None:
        """Stop after the current job, or once it is given back."""
        self._is_ending = True
        super().stop()  # type: ignore[no-untyped-call]

    async def run(self) -> None:
        """Work until cancelled; the current job is finished first, or given back."""
        await super().run()  # type: ignore[no-untyped-call]

    async def _noted(self, run: Callable[[], Awaitable[Any]], context: JobContext, _: Worker) -> Any:  # noqa: ANN401
        job_id = context.job.id or 0
        self.running.add(job_id)
        try:
            return await run()
        except asyncio.CancelledError:  # there was no more time
            self._jobs.unfinished[job_id] = self.worker_id
            raise
        finally:
            self.running.discard(job_id)


async def keep_present(presence: Presence, workers: Sequence[LaneWorker]) -> None:
    """Send the heartbeats of workers, and return the jobs of dead ones to the queue, until cancelled."""
    while True:
        is_complete = all(worker.worker_id for worker in workers)
        try:
            for worker_id in await presence.beat([worker for worker in workers if worker.is_present]):
                _log.warning("worker registered anew", worker_id=worker_id)
            for job in await presence.recover_jobs(workers):
                known = {"task": job.task, "job_id": job.id, "request_id": job.request_id}
                _log.warning("job recovered", **known, interruptions=job.interruptions)
        except Exception as error:  # noqa: BLE001 -- it must go on after the database was unavailable
            _log.warning("heartbeat interrupted", error=type(error).__name__)
        await asyncio.sleep(HEARTBEAT if is_complete else _LOOK)


async def end_without_database(presence: Presence, children: Collection[ChildProcess]) -> None:
    """End this process once the database is unreachable and nothing is being computed.

    A process that waited for the database to unregister would be killed by the supervisor, since Procrastinate waits
    half a minute for a connection. Nothing is lost: other workers remove this one's rows.
    """
    while not presence.is_away or any(child.state().busy for child in children):  # noqa: ASYNC110 -- no event tells
        await asyncio.sleep(_LOOK)
    _log.warning("worker ended without the database")
    os._exit(0)


Task = Callable[..., Awaitable[Outcome]]

#: The number of the first try, and the words for a failed try with another to come, and for one given back because its
#: worker stops.
_FIRST, _RETRIED, _GIVEN_BACK = 1, "retried", "given_back"


class JobWatch:
    """Observes jobs."""

    def __init__(self, metrics: JobMetrics | None = None, tracer: Tracer = UNTRACED) -> None:
        self.metrics = metrics or JobMetrics(CollectorRegistry())
        self._tracer = tracer

    def watched(self, task: Task) -> Callable[..., Awaitable[None]]:
        """The task for the queue, with additional arguments for the cause of the job."""

        async def run(
            context: JobContext,
            request_id: str | None = None,
            traceparent: str | None = None,
            enqueued_at: float | None = None,
            **arguments: Any,  # noqa: ANN401 -- the task's own
        ) -> None:
            job, word, problem = context.job, _RETRIED, None
            # The clocks of two machines may differ.
            waited = 0.0 if enqueued_at is None else max(0.0, time.time() - enqueued_at)
            start = time.perf_counter()
            in_trace = span(self._tracer, f"job {job.task_name}", SpanKind.CONSUMER, context_of(traceparent))
            with bound(job_id=job.id, request_id=request_id), in_trace as current:
                try:
                    outcome = await task(context, **arguments)
                    word, problem = outcome.word, outcome.problem
                except asyncio.CancelledError:
                    word = _GIVEN_BACK
                    raise
                finally:
                    ran = time.perf_counter() - start
                    self._note(job, waited, ran, word, problem, current)

        return run

    def step(self, name: str) -> AbstractContextManager[Span]:
        """A span for a step of the current job."""
        return span(self._tracer, name)

    def _note(self, job: Job, waited: float, ran: float, word: str, problem: Problem | None, current: Span) -> None:
        """Record a try that waited and ran for this many seconds."""
        task, lane, number = job.task_name, job.queue, job.attempts + 1
        code = None if problem is None else problem.code
        if number == _FIRST:
            self.metrics.waited(task, lane, waited)
        self.metrics.ended(task, lane, word, ran)
        current.set_attributes({"aegis.lane": lane, "aegis.try": number, "aegis.outcome": word})
        fields = {"task": task, "lane": lane, "try": number, "outcome": word, "problem": code}
        _log.info("job ended", **fields, waited_ms=round(waited * 1e3, 1), ran_ms=round(ran * 1e3, 1))
