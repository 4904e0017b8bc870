"""A worker: fetches jobs, and sweeps up those of workers that died."""

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

#: Seconds: how often a worker says that it lives, after how long it counts as dead, and how often all look for work.
HEARTBEAT = 1.0
STALLED_AFTER = 3.0
POLLING = 0.5


async def run_worker(settings: Settings) -> None:
    """Work until SIGTERM or SIGINT; the job at hand is finished first."""
    if settings.database_url is None:
        message = "a worker needs a database: set AEGIS_DATABASE_URL, or start it beside `aegis-server serve`"
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
    """Give the jobs of dead workers to the living, for ever. Every worker does it: twice is as good as once."""
    while True:
        await asyncio.sleep(HEARTBEAT)
        try:
            for job in await queue.job_manager.get_stalled_jobs(seconds_since_heartbeat=STALLED_AFTER):
                _log.warning("job recovered", task=job.task_name, job_id=job.id)
                await queue.job_manager.retry_job(job)
        except Exception as error:  # noqa: BLE001 -- the database may be away: the sweep goes on when it is back
            _log.warning("sweep interrupted", error=type(error).__name__)
