"""A worker: runs jobs, recovers those of workers that died, sweeps expired data and signs the audit log's head."""

import asyncio
import signal
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import structlog
from opentelemetry.trace import Tracer
from procrastinate import App
from prometheus_client import CollectorRegistry, ProcessCollector, start_http_server

from app.advice.service import computation
from app.audit.service import Signer, signer_of
from app.dataspace.jobs import Messenger
from app.factory import Factory
from app.platform.database.migrations import SchemaStore
from app.platform.database.session import Database
from app.platform.errors import DatabaseUnavailableError, OverloadedError, SchemaMismatchError
from app.platform.process.child import ChildProcess, keep_warm
from app.platform.queue.lanes import JobWatch, LaneWorker, PresentJobs, end_without_database, keep_present
from app.platform.queue.model import Lane
from app.platform.queue.presence import Presence
from app.platform.queue.queue import CEILING, queue_app
from app.platform.telemetry import (
    BuildCollector,
    ChildrenCollector,
    JobMetrics,
    PoolCollector,
    WebhookMetrics,
    tracer_for,
)
from app.retention import Retention, Swept
from app.settings import Settings
from app.tenants.model import NOTHING_REQUIRED, RequiredPrivacy
from app.webhooks.jobs import Deliverer, EventSender
from app.worker.tasks import Tasks

_log = structlog.get_logger(__name__)

#: Seconds after which a job of the light lane, whose cost was underestimated, starts over in the heavy lane.
LIGHT_SECONDS = 2.0

#: Seconds between two checks of the schema.
FITTING_LOOK = 5.0

#: Seconds between two sweeps, and between two checks whether a head is due.
PAUSE = 600.0


async def run_worker(settings: Settings, required: RequiredPrivacy = NOTHING_REQUIRED) -> None:
    """Work until SIGTERM or SIGINT. The current jobs are finished first, or given back after `stop_seconds`."""
    with tracer_for(settings.traces_endpoint, "aegis-worker") as tracer:
        await _run_worker(settings, required, tracer)


async def _run_worker(settings: Settings, required: RequiredPrivacy, tracer: Tracer) -> None:
    if settings.database_url is None:
        message = "a worker needs a database: set AEGIS_DATABASE_URL, or start the worker beside `aegis-server serve`"
        raise ValueError(message)
    signer = signer_of(settings.audit_key, settings.audit_key_file)
    database = Database(settings.database_url, pool_size=2, can_lose_commits=True)
    # A separate pool, so that events and answers do not wait for each other.
    for_deliveries = Database(settings.database_url, pool_size=1, can_lose_commits=True)
    queue = queue_app(settings.database_url)
    presence = Presence(settings.database_url)
    children = {
        Lane.LIGHT: ChildProcess(computation.__name__, LIGHT_SECONDS),
        Lane.HEAVY: ChildProcess(computation.__name__, settings.job_seconds),
    }
    registry = CollectorRegistry()
    watch, for_webhooks = JobWatch(JobMetrics(registry), tracer), WebhookMetrics(registry)
    limits = settings.reconstruction_seconds, settings.tenant_jobs
    Tasks(database, queue, children, *limits, watch, required).register()
    try:
        await database.ping()
        async with queue.open_async():
            await children[Lane.LIGHT].warm()
            with metrics_served(settings, observed(registry, database, children)):
                _log.info("worker started")
                retention = Retention(settings.advice_days, settings.versions_kept, settings.request_days)
                sender = EventSender(allow_private=settings.webhooks_allow_private)
                deliverer = Deliverer(for_deliveries, queue, sender, metrics=for_webhooks)
                beside = [
                    asyncio.create_task(keep_warm(children.values())),
                    asyncio.create_task(keep_retention(database, queue, retention, settings.tenant_jobs)),
                    asyncio.create_task(keep_heads_signed(database, queue, signer)),
                    asyncio.create_task(deliverer.run()),
                    asyncio.create_task(Messenger(for_deliveries, queue, sender, signer).run()),
                ]
                try:
                    await _work(queue, presence, children, settings.stop_seconds, keep_fitting(database))
                finally:
                    await _cancelled(beside)
    finally:
        await database.close()
        await for_deliveries.close()
        await presence.close()


def observed(
    registry: CollectorRegistry, database: Database, children: Mapping[Lane, ChildProcess]
) -> CollectorRegistry:
    """The registry, with the metrics of a worker's process."""
    ProcessCollector(registry=registry)
    registry.register(BuildCollector())
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


async def _cancelled(tasks: Collection[asyncio.Task[None]]) -> list[BaseException | None]:
    for task in tasks:
        task.cancel()
    return await asyncio.gather(*tasks, return_exceptions=True)


async def keep_fitting(database: Database) -> None:
    """Check every few seconds that this version works with the schema; otherwise its jobs would only fail.

    Raises:
        SchemaMismatchError: it does not.
    """
    while True:
        await asyncio.sleep(FITTING_LOOK)
        with suppress(DatabaseUnavailableError, OverloadedError):
            async with database.transaction() as session:
                if (reason := await SchemaStore(session).mismatch()) is not None:
                    raise SchemaMismatchError(reason)


async def _work(
    queue: App,
    presence: Presence,
    children: Mapping[Lane, ChildProcess],
    stop_seconds: float,
    fitting: Coroutine[Any, Any, None],
) -> None:
    """Run the jobs of both lanes until SIGTERM or SIGINT, or until `fitting` raises."""
    jobs = queue.job_manager = PresentJobs(queue, presence)
    workers = [LaneWorker(queue, lane, jobs, stop_seconds) for lane in Lane]
    presenting = asyncio.create_task(keep_present(presence, workers))
    lanes = [asyncio.create_task(worker.run()) for worker in workers]
    fits = asyncio.create_task(fitting)
    ending: list[asyncio.Task[None]] = []

    def stop() -> None:
        for lane in lanes:
            lane.cancel()
        ending.append(asyncio.create_task(end_without_database(presence, children.values())))

    with _on_stop(stop):
        # A failing lane stops the other one, too, and the supervisor restarts the worker.
        await asyncio.wait([*lanes, fits], return_when=asyncio.FIRST_COMPLETED)
        for other in lanes:
            if not other.done() and not other.cancelling():  # a second cancellation would interrupt its job
                other.cancel()
        ended = await asyncio.gather(*lanes, return_exceptions=True)
    await _cancelled([presenting, *ending])
    for error in (*await _cancelled([fits]), *ended):
        if isinstance(error, Exception):
            raise error


@contextmanager
def _on_stop(stop: Callable[[], object]) -> Iterator[None]:
    loop, signals = asyncio.get_running_loop(), (signal.SIGTERM, signal.SIGINT)
    for number in signals:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


async def keep_retention(database: Database, queue: App, retention: Retention, ceiling: int = CEILING) -> None:
    """Sweep until cancelled. Every worker runs this, but one at a time deletes. `ceiling` limits a tenant's jobs."""
    while True:
        await sweep(database, queue, retention, ceiling)
        await asyncio.sleep(PAUSE)


async def sweep(database: Database, queue: App, retention: Retention, ceiling: int = CEILING) -> int:
    """Delete expired data and finish abandoned work, in short transactions; return the number of rows."""
    total = 0
    for what in Swept:
        try:
            done = None
            while done != 0:
                async with database.transaction() as session:
                    done = await Factory(session, queue, ceiling).retention().sweep(what, retention)
                total += done
        except Exception as error:  # noqa: BLE001 -- one fault must not stop the rest, and the database may be unreachable
            _log.warning("retention interrupted", what=what.value, error=type(error).__name__)
    if total:
        _log.info("swept", rows=total)
    return total


async def keep_heads_signed(database: Database, queue: App, signer: Signer | None) -> None:
    """Sign a head once a day. Every worker runs this, but only one signs; without a key it does nothing."""
    while signer is not None:
        try:
            if await sign_head(database, queue, signer):
                _log.info("audit head signed", kid=signer.key_id)
        except Exception as error:  # noqa: BLE001 -- it must go on after the database was unavailable
            _log.warning("audit head not signed", error=type(error).__name__)
        await asyncio.sleep(PAUSE)


async def sign_head(database: Database, queue: App, signer: Signer) -> bool:
    """Sign the head if it is due; return whether it was."""
    async with database.transaction() as session:
        await Factory(session, queue).audit().use(signer)
    # In another transaction: a record gets its place at commit.
    async with database.transaction() as session:
        return await Factory(session, queue).audit().sign_head(signer)
