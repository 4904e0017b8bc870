"""The job queue: Procrastinate on the catalogue's own database, so that a job is enqueued with what it is about."""

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

    async def reconstruct(self, version_id: int, chunks: Sequence[Sequence[int]]) -> None:
        """Compute the references of a version, those of each chunk of attributes by a job of its own.

        Each job has a claim on its attributes, by its queueing lock, until it ends or gives them up. Answers go first,
        then versions of few chunks: who waits for little does not wait for much.
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
        """The attributes of a version whose references a job is going to compute, or computes now."""
        return frozenset((await self._session.execute(_CLAIMED, {"claims": _claims(version_id)})).scalars())

    async def give_up(self, version_id: int, chunk: Sequence[int]) -> None:
        """End the claim on a chunk before its job ends: as soon as the transaction commits, it may be enqueued anew."""
        await self._session.execute(_GIVE_UP, {"claim": _claim(version_id, chunk)})

    async def advise(self, advice_id: str) -> None:
        """Answer an advice."""
        await self._defer(ADVICE_TASK, advice_id=advice_id)

    async def _defer(self, task: str, *, priority: int = 0, claim: str | None = None, **arguments: JSONValue) -> None:
        connection = await driver_connection(self._session)
        job = self._app.configure_task(task, priority=priority, queueing_lock=claim, connection=connection)
        await job.defer_async(**arguments)


def _claims(version_id: int) -> str:
    return f"references of version {version_id} from "


def _claim(version_id: int, chunk: Sequence[int]) -> str:
    """Claims of a version never overlap, so that the first attribute tells them apart."""
    return f"{_claims(version_id)}{chunk[0]}"
