"""A worker: runs jobs, and recovers those of workers that died."""

import asyncio
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import structlog
from opentelemetry.trace import Tracer
from procrastinate import App
from prometheus_client import CollectorRegistry, ProcessCollector, start_http_server

from app.catalog.queue import queue_app
from app.catalog.session import Database
from app.domain.lanes import Lane
from app.jobs.audit_heads import keep_heads_signed
from app.jobs.deliveries import Deliverer
from app.jobs.retention import keep_retention
from app.jobs.sending import Sender
from app.jobs.tasks import Tasks
from app.jobs.watch import JobWatch
from app.process.child import ChildProcess, keep_warm
from app.services import computation
from app.services.retention import Retention
from app.services.signing import signer_of
from app.settings import Settings
from app.telemetry import ChildrenCollector, JobMetrics, PoolCollector, WebhookMetrics, tracer_for

_log = structlog.get_logger(__name__)

#: Seconds between the heartbeats of a worker, until a silent worker counts as dead, and between two looks for jobs.
HEARTBEAT = 1.0
STALLED_AFTER = 3.0
POLLING = 0.5

#: Seconds after which a job of the light lane, whose cost was estimated badly, begins again in the heavy one.
LIGHT_SECONDS = 2.0


async def run_worker(settings: Settings) -> None:
    """Work until SIGTERM or SIGINT; the current job is finished first."""
    with tracer_for(settings.traces_endpoint, "aegis-worker") as tracer:
        await _run_worker(settings, tracer)


async def _run_worker(settings: Settings, tracer: Tracer) -> None:
    if settings.database_url is None:
        message = "a worker needs a database: set AEGIS_DATABASE_URL, or start the worker beside `aegis-server serve`"
        raise ValueError(message)
    signer = signer_of(settings.audit_key, settings.audit_key_file)
    database = Database(settings.database_url, pool_size=2, can_lose_commits=True)
    # One of its own: neither do deliveries wait for answers, nor answers for deliveries.
    for_deliveries = Database(settings.database_url, pool_size=1, can_lose_commits=True)
    queue = queue_app(settings.database_url)
    children = {
        Lane.LIGHT: ChildProcess(computation.__name__, LIGHT_SECONDS),
        Lane.HEAVY: ChildProcess(computation.__name__, settings.job_seconds),
    }
    registry = CollectorRegistry()
    watch, for_webhooks = JobWatch(JobMetrics(registry), tracer), WebhookMetrics(registry)
    Tasks(database, queue, children, settings.reconstruction_seconds, settings.tenant_jobs, watch).register()
    try:
        await database.ping()
        async with queue.open_async():
            await children[Lane.LIGHT].warm()
            with metrics_served(settings, observed(registry, database, children)):
                _log.info("worker started")
                retention = Retention(settings.advice_days, settings.versions_kept, settings.request_days)
                sender = Sender(allow_private=settings.webhooks_allow_private)
                deliverer = Deliverer(for_deliveries, queue, sender, metrics=for_webhooks)
                beside = [
                    asyncio.create_task(keep_warm(children.values())),
                    asyncio.create_task(keep_retention(database, queue, retention)),
                    asyncio.create_task(keep_heads_signed(database, queue, signer)),
                    asyncio.create_task(deliverer.run()),
                ]
                await _work(queue)
                for task in beside:
                    task.cancel()
    finally:
        await database.close()
        await for_deliveries.close()


def observed(
    registry: CollectorRegistry, database: Database, children: Mapping[Lane, ChildProcess]
) -> CollectorRegistry:
    """The registry, with the state of a worker's process."""
    ProcessCollector(registry=registry)
    registry.register(PoolCollector(database))
    registry.register(ChildrenCollector({f"compute_{lane.value}": child for lane, child in children.items()}))
    return registry


@contextmanager
def metrics_served(settings: Settings, registry: CollectorRegistry) -> Iterator[int | None]:
    """Serve a worker's metrics from a thread during the block, and yield the port; do nothing if no port is set."""
    if settings.worker_metrics_port is None:
        yield None
        return
    server, thread = start_http_server(settings.worker_metrics_port, settings.worker_metrics_host, registry)
    _log.info("metrics served", port=server.server_port)
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


async def _work(queue: App) -> None:
    """Run the jobs of both lanes until SIGTERM or SIGINT."""
    sweeping = asyncio.create_task(sweep(queue))
    lanes = [asyncio.create_task(_run_lane(queue, lane)) for lane in Lane]
    with _on_stop(*(lane.cancel for lane in lanes)):
        # A lane that fails takes the other one along, and the supervisor starts the worker again.
        _, others = await asyncio.wait(lanes, return_when=asyncio.FIRST_COMPLETED)
        for other in others:
            if not other.cancelling():  # a second time would end its job before it is finished
                other.cancel()
        ended = await asyncio.gather(*lanes, return_exceptions=True)
    sweeping.cancel()
    for error in ended:
        if isinstance(error, Exception):
            raise error


async def _run_lane(queue: App, lane: Lane) -> None:
    """Run the jobs of a lane, one at a time. When this is cancelled, the current job is finished first."""
    await queue.run_worker_async(
        queues=[lane.value],
        name=lane.value,
        concurrency=1,
        fetch_job_polling_interval=POLLING,
        update_heartbeat_interval=HEARTBEAT,
        stalled_worker_timeout=STALLED_AFTER,
        delete_jobs="successful",
        install_signal_handlers=False,
    )


@contextmanager
def _on_stop(*stop: Callable[[], object]) -> Iterator[None]:
    """Call these functions on SIGTERM or SIGINT."""
    loop, signals = asyncio.get_running_loop(), (signal.SIGTERM, signal.SIGINT)
    for number in signals:
        loop.add_signal_handler(number, lambda: [one() for one in stop])
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


async def sweep(queue: App) -> None:
    """Return the jobs of dead workers to the queue, for ever. Every worker does this, since repetition is harmless."""
    while True:
        await asyncio.sleep(HEARTBEAT)
        try:
            for job in await queue.job_manager.get_stalled_jobs(seconds_since_heartbeat=STALLED_AFTER):
                request_id = job.task_kwargs.get("request_id")
                _log.warning("job recovered", task=job.task_name, job_id=job.id, request_id=request_id)
                await queue.job_manager.retry_job(job)
        except Exception as error:  # noqa: BLE001 -- the sweep must go on after the database was unavailable
            _log.warning("sweep interrupted", error=type(error).__name__)
