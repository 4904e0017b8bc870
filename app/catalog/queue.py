"""The job queue: Procrastinate on the catalogue's database, so that one transaction stores data and adds its job."""

from collections.abc import Sequence

from procrastinate import App, PsycopgConnector
from procrastinate.types import JSONValue
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.catalog.session import CONNECT_TIMEOUT, driver_connection

REFERENCE_TASK = "reference"
ADVICE_TASK = "advice"

_CLAIMED = text(
    "SELECT jsonb_array_elements(args -> 'attributes')::int FROM procrastinate_jobs "
    "WHERE status IN ('todo', 'doing') AND starts_with(queueing_lock, :claims)"
)
_GIVE_UP = text("UPDATE procrastinate_jobs SET queueing_lock = NULL WHERE queueing_lock = :claim")


def queue_app(database_url: str) -> App:
    """Procrastinate on `database_url`. Only workers open it, since enqueueing uses the session's connection."""
    return App(
        connector=PsycopgConnector(
            conninfo=database_url, kwargs={"connect_timeout": CONNECT_TIMEOUT}, min_size=1, max_size=4
        )
    )


class JobQueue:
    """Enqueues jobs in a session's transaction: the jobs exist if and only if it commits."""

    def __init__(self, app: App, session: AsyncSession) -> None:
        self._app = app
        self._session = session

    async def reconstruct(self, version_id: int, chunks: Sequence[Sequence[int]]) -> None:
        """Enqueue jobs that compute the references of a version, one for each chunk of attributes.

        By its queueing lock, each job claims its attributes until it ends or gives them up. Answers are computed first,
        then versions with few chunks, so that small requests do not wait for large ones.
        """
        for chunk in chunks:
            await self._defer(
                REFERENCE_TASK,
                priority=-len(chunks),
                claim=_claim(version_id, chunk),
                version_id=version_id,
                attributes=list(chunk),
            )

    async def claimed(self, version_id: int) -> frozenset[int]:
        """The attributes of a version whose references a job is computing or will compute."""
        return frozenset((await self._session.execute(_CLAIMED, {"claims": _claims(version_id)})).scalars())

    async def give_up(self, version_id: int, chunk: Sequence[int]) -> None:
        """End the claim on a chunk before its job ends, so that it can be enqueued again after the commit."""
        await self._session.execute(_GIVE_UP, {"claim": _claim(version_id, chunk)})

    async def advise(self, advice_id: str) -> None:
        """Enqueue the job that answers an advice."""
        await self._defer(ADVICE_TASK, advice_id=advice_id)

    async def _defer(self, task: str, *, priority: int = 0, claim: str | None = None, **arguments: JSONValue) -> None:
        connection = await driver_connection(self._session)
        job = self._app.configure_task(task, priority=priority, queueing_lock=claim, connection=connection)
        await job.defer_async(**arguments)


def _claims(version_id: int) -> str:
    return f"references of version {version_id} from "


def _claim(version_id: int, chunk: Sequence[int]) -> str:
    """The claim on a chunk. Chunks of a version never overlap, so the first attribute identifies each."""
    return f"{_claims(version_id)}{chunk[0]}"
