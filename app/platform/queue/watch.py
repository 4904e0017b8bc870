"""Observation of jobs: a log line, metrics and a span per try, without the contents of a job."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import structlog
from opentelemetry.trace import Span, SpanKind, Tracer
from procrastinate import JobContext
from prometheus_client import CollectorRegistry

from app.platform.log import bound
from app.platform.queue.outcome import Outcome, Problem
from app.platform.telemetry import UNTRACED, JobMetrics, context_of, span

_log = structlog.get_logger(__name__)

Task = Callable[..., Awaitable[Outcome]]

#: The number of the first try, and the words for a failed try with another to come, and for one given back because its
#: worker stops.
_FIRST, _RETRIED, _GIVEN_BACK = 1, "retried", "given_back"


class JobWatch:
    """Observes jobs.

    Args:
        metrics: counts them.
        tracer: makes their spans.
    """

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
            one = _Try(job.task_name, job.queue, job.attempts + 1, waited)
            in_trace = span(self._tracer, f"job {one.task}", SpanKind.CONSUMER, context_of(traceparent))
            with bound(job_id=job.id, request_id=request_id), in_trace as current:
                try:
                    outcome = await task(context, **arguments)
                    word, problem = outcome.word, outcome.problem
                except asyncio.CancelledError:
                    word = _GIVEN_BACK
                    raise
                finally:
                    self._note(one, word, problem, current)

        return run

    def step(self, name: str) -> AbstractContextManager[Span]:
        """A span for a step of the current job."""
        return span(self._tracer, name)

    def _note(self, one: "_Try", word: str, problem: Problem | None, current: Span) -> None:
        code = None if problem is None else problem.code
        ran = time.perf_counter() - one.start
        if one.number == _FIRST:
            self.metrics.waited(one.task, one.lane, one.waited)
        self.metrics.ended(one.task, one.lane, word, ran)
        current.set_attributes({"aegis.lane": one.lane, "aegis.try": one.number, "aegis.outcome": word})
        fields = {"task": one.task, "lane": one.lane, "try": one.number, "outcome": word, "problem": code}
        _log.info("job ended", **fields, waited_ms=round(one.waited * 1e3, 1), ran_ms=round(ran * 1e3, 1))


@dataclass(frozen=True, slots=True)
class _Try:
    """A try of a job.

    Attributes:
        number: the number of the try, from 1.
        waited: seconds since the job was enqueued.
        start: when it began, by `time.perf_counter`.
    """

    task: str
    lane: str
    number: int
    waited: float
    start: float = field(default_factory=time.perf_counter)
