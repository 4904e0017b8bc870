"""Telemetry of a process: metrics for Prometheus, and OpenTelemetry traces if the settings have an endpoint for them.

No label names a tenant, an entry or anything in it. A span never carries the text of an exception: it could quote a
count.
"""

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from itertools import accumulate

from opentelemetry.context import Context
from opentelemetry.trace import NoOpTracerProvider, Span, SpanKind, Status, StatusCode, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from app.platform.database.probe import Probe, ProbeReading
from app.platform.database.session import Database
from app.platform.process.child import ChildProcess

_NAME = "aegis"

#: A tracer whose spans are discarded.
UNTRACED: Tracer = NoOpTracerProvider().get_tracer(_NAME)

#: The timeout in seconds for sending a batch of spans. A stopping process waits for at most four batches.
_SENDING = 2.0


def refuse_missing_exporter(endpoint: str | None) -> None:
    """Refuse to send traces without the libraries for it.

    Raises:
        ValueError: an endpoint is set, and the extra `telemetry` is not installed.
    """
    if endpoint is not None and (find_spec("opentelemetry.sdk") is None or find_spec("opentelemetry.exporter") is None):
        how = "install 'aegis-masking-server[telemetry]' from where you got Aegis"
        message = f"AEGIS_TRACES_ENDPOINT needs more libraries: {how}"
        raise ValueError(message)


@contextmanager
def tracer_for(endpoint: str | None, service: str) -> Iterator[Tracer]:
    """A tracer that sends spans to `endpoint` during the block, as a service of this name; `UNTRACED` without one."""
    if endpoint is None:
        yield UNTRACED
        return
    # These import an HTTP client and protobuf, which a service without traces does not need.
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    provider = TracerProvider(
        resource=Resource.create({"service.name": service, "service.version": build_version()}), shutdown_on_exit=False
    )
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint, timeout=_SENDING)))
    try:
        yield provider.get_tracer(_NAME)
    finally:
        provider.shutdown()


def context_of(traceparent: str | None) -> Context | None:
    """The context of a W3C `traceparent`; None if it is missing or malformed."""
    carrier = {} if traceparent is None else {"traceparent": traceparent}
    return TraceContextTextMapPropagator().extract(carrier, Context()) or None


@contextmanager
def span(
    tracer: Tracer, name: str, kind: SpanKind = SpanKind.INTERNAL, parent: Context | None = None
) -> Iterator[Span]:
    """A span for the block, below the current one or `parent`. An exception only marks it as failed."""
    with tracer.start_as_current_span(
        name, parent, kind, record_exception=False, set_status_on_exception=False
    ) as current:
        try:
            yield current
        except Exception as error:
            current.set_status(Status(StatusCode.ERROR, type(error).__name__))
            raise


#: Seconds. A client may wait for 60; most answers take tens of milliseconds.
_ADVICE_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class ApiMetrics:
    """The metrics of the API."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._problems = Counter("aegis_problems", "Problems answered, by their code", ("code",), registry=registry)
        self._published = Counter("aegis_published", "Versions accepted", ("kind",), registry=registry)
        self._advice = Histogram(
            "aegis_advice_seconds",
            "Time from a question to its answer in the same request",
            ("answer",),
            buckets=_ADVICE_SECONDS,
            registry=registry,
        )
        for kind in ("entry", "version"):
            self._published.labels(kind)

    def refused(self, code: str) -> None:
        """Count a problem in a response."""
        self._problems.labels(code).inc()

    def published(self, *, is_first: bool) -> None:
        """Count a version: the first one of a new entry, or another one."""
        self._published.labels("entry" if is_first else "version").inc()

    def advised(self, seconds: float, *, is_final: bool, is_new: bool) -> None:
        """Record the duration of a question: new, known, or answered later."""
        answer = "later" if not is_final else "new" if is_new else "known"
        self._advice.labels(answer).observe(seconds)


_JOB_SECONDS = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0, 120.0, 600.0, 3600.0)


class JobMetrics:
    """The metrics of a worker's jobs."""

    def __init__(self, registry: CollectorRegistry) -> None:
        labels = ("task", "lane")
        self._ended = Counter("aegis_jobs", "Tries of jobs that ended", (*labels, "outcome"), registry=registry)
        self._ran = Histogram(
            "aegis_job_seconds", "Time that a try ran", labels, buckets=_JOB_SECONDS, registry=registry
        )
        self._waited = Histogram(
            "aegis_job_wait_seconds",
            "Time from the request for a job to its first try",
            labels,
            buckets=_JOB_SECONDS,
            registry=registry,
        )
        self.residuals = Residuals()
        registry.register(self.residuals)

    def waited(self, task: str, lane: str, seconds: float) -> None:
        """Record a job's waiting time in seconds."""
        self._waited.labels(task, lane).observe(seconds)

    def ended(self, task: str, lane: str, outcome: str, ran: float) -> None:
        """Record the outcome of a try and its duration in seconds."""
        self._ended.labels(task, lane, outcome).inc()
        self._ran.labels(task, lane).observe(ran)


class Residuals(Collector):
    """A histogram of the residuals of reconstructions, without their sum.

    Two scrapes around one reconstruction would show its residual to all digits as the difference of the sums. A bucket
    shows its power of ten or less.
    """

    _BOUNDS = (1e-12, 1e-9, 1e-6, 1e-3, 1e-2, 1e-1, 1.0, math.inf)

    def __init__(self) -> None:
        self._numbers = [0] * len(self._BOUNDS)

    def observe(self, residual: float) -> None:
        """Observe a residual; NaN counts in the +Inf bucket."""
        place = len(self._BOUNDS) - 1 if math.isnan(residual) else bisect_left(self._BOUNDS, residual)
        self._numbers[place] += 1

    def collect(self) -> Iterator[Metric]:
        """The histogram."""
        names = ("+Inf" if math.isinf(bound) else str(bound) for bound in self._BOUNDS)
        yield HistogramMetricFamily(
            "aegis_reconstruction_residual_ratio",
            "Largest residual of a margin, over the number of records",
            buckets=list(zip(names, map(float, accumulate(self._numbers)), strict=True)),
        )


#: The outcome of an attempt: accepted, another status, or no response.
OUTCOMES = ("delivered", "refused", "timeout", "unreachable", "address_refused")


class WebhookMetrics:
    """The metrics of a worker's webhook attempts, without tenants and URLs."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._attempts = Counter(
            "aegis_webhook_attempts", "Attempts to deliver an event", ("outcome",), registry=registry
        )
        for outcome in OUTCOMES:
            self._attempts.labels(outcome)

    def attempted(self, outcome: str) -> None:
        """Count an attempt."""
        self._attempts.labels(outcome).inc()


class BuildCollector(Collector):
    """The build of the process."""

    def collect(self) -> Iterator[Metric]:
        """The version, as a label of 1."""
        yield InfoMetricFamily("aegis_build", "The version of the service", value={"version": build_version()})


@dataclass(eq=False)
class PoolCollector(Collector):
    """The connections of a pool, and the transactions that wait for one."""

    database: Database

    def collect(self) -> Iterator[Metric]:
        """The current use of the pool."""
        usage = self.database.usage
        yield GaugeMetricFamily("aegis_database_pool_size", "Most connections of the pool", value=usage.size)
        yield GaugeMetricFamily("aegis_database_pool_in_use", "Connections in a transaction", value=usage.in_use)
        yield GaugeMetricFamily("aegis_database_pool_waiting", "Transactions without a connection", value=usage.waiting)


@dataclass(eq=False)
class ChildrenCollector(Collector):
    """The child processes by their work."""

    children: Mapping[str, ChildProcess]

    def collect(self) -> Iterator[Metric]:
        """The current state of the children."""
        alive = GaugeMetricFamily("aegis_child_up", "Whether the child process lives", labels=("child",))
        busy = GaugeMetricFamily("aegis_child_busy", "Functions that run in child processes", labels=("child",))
        waiting = GaugeMetricFamily("aegis_child_waiting", "Calls that wait for their turn", labels=("child",))
        deaths = CounterMetricFamily("aegis_child_deaths", "Calls during which the child died", labels=("child",))
        for name, child in self.children.items():
            state = child.state()
            alive.add_metric((name,), state.is_alive)
            busy.add_metric((name,), state.busy)
            waiting.add_metric((name,), state.waiting)
            deaths.add_metric((name,), state.deaths)
        yield from (alive, busy, waiting, deaths)


@dataclass(eq=False)
class DatabaseCollector(Collector):
    """The database and its queue, from the last reading of a probe."""

    probe: Probe

    def collect(self) -> Iterator[Metric]:
        """The metrics; only `aegis_database_up` if the database did not respond."""
        reading = self.probe.last
        is_up = reading.pulse is not None
        yield GaugeMetricFamily("aegis_database_up", "Whether the database answers", value=is_up)
        if reading.pulse is not None:
            seconds, workers = reading.pulse.seconds, reading.pulse.workers
            yield GaugeMetricFamily("aegis_database_ping_seconds", "Time of a statement", value=seconds)
            yield GaugeMetricFamily("aegis_workers", "Workers with a recent heartbeat", value=workers)
        yield from _queue(reading)


def _queue(reading: ProbeReading) -> Iterator[Metric]:
    if reading.queue is None:
        return
    labels = ("lane", "backlog")
    waiting = GaugeMetricFamily("aegis_queue_waiting_jobs", "Jobs that wait", labels=labels)
    oldest = GaugeMetricFamily("aegis_queue_oldest_seconds", "Age of the oldest job that waits", labels=labels)
    running = GaugeMetricFamily("aegis_queue_running_jobs", "Jobs that workers run", labels=("lane",))
    for one in reading.queue.backlogs:
        waiting.add_metric((one.lane, one.size), one.jobs)
        oldest.add_metric((one.lane, one.size), one.oldest_seconds)
    for lane, jobs in reading.queue.running.items():
        running.add_metric((lane,), jobs)
    yield from (waiting, oldest, running)
    queue = reading.queue
    yield GaugeMetricFamily("aegis_webhook_waiting_events", "Events that wait for a webhook", value=queue.events)
    yield GaugeMetricFamily("aegis_webhook_oldest_seconds", "Age of the oldest one", value=queue.oldest_event_seconds)


@cache
def build_version() -> str:
    """The version of the installed service."""
    return version("aegis-masking-server")
