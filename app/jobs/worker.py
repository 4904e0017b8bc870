"""A worker: runs jobs, and recovers those of workers that died."""

import asyncio

import structlog
from procrastinate import App

from app.catalog.queue import queue_app
from app.catalog.session import Database
from app.jobs.tasks import Tasks
from app.process.child import ChildProcess
from app.services import computation
from app.settings import Settings

_log = structlog.get_logger(__name__)

#: Seconds between the heartbeats of a worker, until a silent worker counts as dead, and between two looks for jobs.
HEARTBEAT = 1.0
STALLED_AFTER = 3.0
POLLING = 0.5


async def run_worker(settings: Settings) -> None:
    """Work until SIGTERM or SIGINT; the current job is finished first."""
    if settings.database_url is None:
        message = "a worker needs a database: set AEGIS_DATABASE_URL, or start the worker beside `aegis-server serve`"
        raise ValueError(message)
    database = Database(settings.database_url, pool_size=2)
    queue = queue_app(settings.database_url)
    child = ChildProcess(computation.__name__, settings.job_seconds)
    Tasks(database, queue, child, settings.reconstruction_seconds).register()
    try:
        await database.ping()
        async with queue.open_async():
            await child.warm()
            sweeping = asyncio.create_task(sweep(queue))
            _log.info("worker started")
            await queue.run_worker_async(
                concurrency=1,
                fetch_job_polling_interval=POLLING,
                update_heartbeat_interval=HEARTBEAT,
                stalled_worker_timeout=STALLED_AFTER,
                delete_jobs="successful",
            )
            sweeping.cancel()
    finally:
        await database.close()


async def sweep(queue: App) -> None:
    """Return the jobs of dead workers to the queue, for ever. Every worker does this, since repetition is harmless."""
    while True:
        await asyncio.sleep(HEARTBEAT)
        try:
            for job in await queue.job_manager.get_stalled_jobs(seconds_since_heartbeat=STALLED_AFTER):
                _log.warning("job recovered", task=job.task_name, job_id=job.id)
                await queue.job_manager.retry_job(job)
        except Exception as error:  # noqa: BLE001 -- the sweep must go on after the database was unavailable
            _log.warning("sweep interrupted", error=type(error).__name__)
