"""The job queue: Procrastinate on the catalogue's own database, so that a job is enqueued with what it is about."""

from procrastinate import App, PsycopgConnector
from sqlalchemy.ext.asyncio import AsyncSession

from app.catalog.session import CONNECT_TIMEOUT, driver_connection

REFERENCE_TASK = "reference"
ADVICE_TASK = "advice"


def queue_app(database_url: str) -> App:
    """Procrastinate on `database_url`; opened by workers only, since enqueueing uses the session's connection."""
    return App(
        connector=PsycopgConnector(
            conninfo=database_url, kwargs={"connect_timeout": CONNECT_TIMEOUT}, min_size=1, max_size=4
        )
    )


class JobQueue:
    """Enqueues jobs in a session's transaction: they exist if and only if it commits."""

    def __init__(self, app: App, session: AsyncSession) -> None:
        self._app = app
        self._session = session

    async def reconstruct(self, version_id: int) -> None:
        """Compute the references of a version."""
        await self._defer(REFERENCE_TASK, _lock(version_id), version_id=version_id)

    async def advise(self, advice_id: str, *, after_reference_of: int | None) -> None:
        """Answer an advice; jobs on a version whose reference is missing run one by one, the reference first."""
        lock = None if after_reference_of is None else _lock(after_reference_of)
        await self._defer(ADVICE_TASK, lock, advice_id=advice_id)

    async def _defer(self, task: str, lock: str | None, **arguments: int | str) -> None:
        connection = await driver_connection(self._session)
        job = self._app.configure_task(task, lock=lock, connection=connection)
        await job.defer_async(**arguments)


def _lock(version_id: int) -> str:
    return f"reference of version {version_id}"
