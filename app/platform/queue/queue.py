"""The job queue: Procrastinate on the catalogue's database, so that one transaction stores data and adds its job.

Procrastinate runs jobs in the order of arrival. So that no tenant waits for all jobs of another, a tenant has only a
few jobs in the queue, and its others wait in its own line. When one of its jobs ends, its next one joins the end of
the queue: tenants take turns.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import Any

from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool
from sqlalchemy import BigInteger, Identity, Index, Text, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import JSONB, insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from app.platform.database.base import Base
from app.platform.database.session import COMMIT_SOON, REACHABLE, driver_connection
from app.platform.log import bound_request_id
from app.platform.queue.model import Lane

REFERENCE_TASK = "reference"
ADVICE_TASK = "advice"
VERDICT_TASK = "verdict"
WORTH_TASK = "worth"

#: Seconds of reconnection attempts with growing pauses, after which these start over.
RECONNECT_TIMEOUT = 1.0

#: Verdicts and the worth of tables come after all jobs whose result a caller may wait for.
_LAST = 1_000_000

#: A tenant's most concurrent jobs per lane.
CEILING = 4


class WaitingJobRow(Base):
    """A job in its tenant's line; in its turn, it moves to the queue of the workers."""

    __tablename__ = "waiting_job"
    __table_args__ = (
        UniqueConstraint("tenant", "lane", "claim"),
        Index("ix_waiting_job_turn", "tenant", "lane", "rank", "id"),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    tenant: Mapped[str] = mapped_column(Text)
    lane: Mapped[str] = mapped_column(Text)
    task: Mapped[str] = mapped_column(Text)
    claim: Mapped[str] = mapped_column(Text)
    rank: Mapped[int]
    arguments: Mapped[dict[str, Any]] = mapped_column(JSONB)


_CLAIMED = text(
    "SELECT jsonb_array_elements(args -> 'attributes')::int FROM procrastinate_jobs "
    "WHERE status IN ('todo', 'doing') AND starts_with(queueing_lock, :claims) "
    "UNION SELECT jsonb_array_elements(arguments -> 'attributes')::int FROM waiting_job "
    "WHERE tenant = :tenant AND starts_with(claim, :claims)"
)
_GIVE_UP = text("UPDATE procrastinate_jobs SET queueing_lock = NULL WHERE queueing_lock = :claim")

# The lock for moving a tenant's jobs, until the commit, so that concurrent transactions respect the ceiling.
_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended('turns of ' || :tenant, 0))")
_NEXT = text(
    "WITH running AS (SELECT count(*) AS jobs FROM procrastinate_jobs WHERE status IN ('todo', 'doing') "
    "AND queue_name = :lane AND args ->> 'tenant' = :tenant AND id <> :ended), "
    "head AS (SELECT id FROM waiting_job WHERE tenant = :tenant AND lane = :lane ORDER BY rank, id "
    "LIMIT greatest(0, coalesce((SELECT (quota ->> 'jobs')::int FROM tenant WHERE name = :tenant), :ceiling) "
    "- (SELECT jobs FROM running))) "
    "DELETE FROM waiting_job AS line USING head, running WHERE line.id = head.id "
    "RETURNING line.id, line.task, line.arguments, line.claim, line.rank, running.jobs AS running"
)
# A job that did not succeed has not done what it claims.
_FAILED = text(
    "UPDATE procrastinate_jobs AS job SET queueing_lock = NULL FROM procrastinate_jobs AS failed "
    "WHERE job.id = failed.id AND job.id = ANY(ARRAY(SELECT id FROM procrastinate_jobs "
    "WHERE status IN ('failed', 'aborted', 'cancelled') AND queueing_lock IS NOT NULL "
    "ORDER BY id LIMIT :part FOR UPDATE SKIP LOCKED)) "
    "RETURNING job.task_name AS task, job.queue_name AS lane, job.args AS arguments, failed.queueing_lock AS claim"
)
# One row of every tenant's line, since a line may be long.
_STALLED = text(
    "SELECT name AS tenant, lane FROM tenant CROSS JOIN unnest(CAST(:lanes AS text[])) AS lane "
    "CROSS JOIN LATERAL (SELECT FROM waiting_job WHERE tenant = name AND waiting_job.lane = lane.lane LIMIT 1) AS head "
    "WHERE NOT EXISTS (SELECT FROM procrastinate_jobs WHERE status IN ('todo', 'doing') "
    "AND queue_name = lane.lane AND args ->> 'tenant' = name) ORDER BY name, lane"
)
_LINE_UP = insert(Base.metadata.tables[WaitingJobRow.__tablename__]).on_conflict_do_nothing()


def queue_app(database_url: str) -> App:
    """Procrastinate on `database_url`. Only workers open it; enqueueing uses the session's connection."""
    return App(
        connector=PsycopgConnector(
            conninfo=database_url,
            kwargs=dict(REACHABLE),
            configure=_without_delay,
            # After an outage, jobs resume soon: by default, the pool's pauses between attempts keep growing.
            reconnect_timeout=RECONNECT_TIMEOUT,
            reconnect_failed=AsyncConnectionPool.check,
            min_size=1,
            max_size=4,
        )
    )


async def _without_delay(connection: AsyncConnection[Any]) -> None:
    """Commit every statement without waiting for the disk, since a lost commit only repeats a job."""
    await connection.set_autocommit(True)
    await connection.execute(COMMIT_SOON)


@dataclass(frozen=True, slots=True)
class Job:
    """A job to enqueue.

    Attributes:
        arguments: the task's arguments besides the tenant.
        claim: names the work that only one job at a time should do.
        rank: jobs of a tenant with a lower rank come first.
    """

    task: str
    arguments: Mapping[str, Any]
    claim: str
    rank: int = 0


@dataclass(frozen=True, slots=True)
class JobQueue:
    """Enqueues jobs in a session's transaction: the jobs exist if and only if it commits."""

    app: App
    session: AsyncSession
    ceiling: int = CEILING

    async def reconstruct(
        self, tenant: str, version_id: int, model_version: str, chunks: Mapping[tuple[int, ...], Lane]
    ) -> None:
        """Enqueue jobs that compute the references of a version, one for each chunk of attributes.

        A job claims its attributes until it ends or gives them up. Among a tenant's jobs, answers come first, then
        versions with few chunks, so that small requests do not wait for large ones.
        """
        for lane in Lane:
            jobs = [
                Job(
                    task=REFERENCE_TASK,
                    arguments={"version_id": version_id, "attributes": list(chunk)},
                    claim=_claim(version_id, model_version, chunk),
                    rank=len(chunks),
                )
                for chunk, own_lane in chunks.items()
                if own_lane is lane
            ]
            await self.enqueue(tenant, lane, jobs)

    async def claimed(self, tenant: str, version_id: int, model_version: str) -> frozenset[int]:
        """The attributes of a version whose references are being computed, or wait in the tenant's line."""
        parameters = {"claims": _claims(version_id, model_version), "tenant": tenant}
        return frozenset((await self.session.execute(_CLAIMED, parameters)).scalars())

    async def give_up(self, version_id: int, model_version: str, chunk: Sequence[int]) -> None:
        """End the claim on a chunk before its job ends, so that it can be enqueued again after the commit."""
        await self.session.execute(_GIVE_UP, {"claim": _claim(version_id, model_version, chunk)})

    async def advise(self, tenant: str, advice_id: str) -> None:
        """Enqueue the job that answers an advice. It moves to the heavy lane if it turns out to be heavy."""
        await self.enqueue(tenant, Lane.LIGHT, [Job(ADVICE_TASK, {"advice_id": advice_id}, f"advice {advice_id}")])

    async def judge(self, tenant: str, version_id: int) -> None:
        """Enqueue the job that judges a version, in the heavy lane, so that no answer waits for it."""
        job = Job(VERDICT_TASK, {"version_id": version_id}, f"verdict on version {version_id}", rank=_LAST)
        await self.enqueue(tenant, Lane.HEAVY, [job])

    async def value(self, tenant: str, version_id: int) -> None:
        """Enqueue the job that computes what the tables of a version are worth, in the heavy lane."""
        job = Job(WORTH_TASK, {"version_id": version_id}, f"worth of version {version_id}", rank=_LAST)
        await self.enqueue(tenant, Lane.HEAVY, [job])

    async def enqueue(self, tenant: str, lane: Lane, jobs: Iterable[Job]) -> None:
        """Add jobs to the tenant's line unless their claim exists, and move the line on.

        A job carries the id of the current request for the worker's log.
        """
        waiting = [{"tenant": tenant, "lane": lane.value} | asdict(_caused(job)) for job in jobs]
        if waiting:
            await self.session.execute(_LINE_UP, waiting)
            await self.go_on(tenant, lane)

    async def redo_failed(self, part: int) -> int:
        """Enqueue some jobs again that failed for good; return their number.

        Nothing else would complete their work, such as an answer or a verdict.
        """
        failed = (await self.session.execute(_FAILED, {"part": part})).all()
        # In the order of tenants, since their lines are locked.
        for row in sorted(failed, key=lambda row: row.arguments["tenant"]):
            arguments = dict(row.arguments)
            tenant = arguments.pop("tenant")
            rank = _LAST if row.task in (VERDICT_TASK, WORTH_TASK) else 0
            await self.enqueue(tenant, Lane(row.lane), [Job(row.task, arguments, row.claim, rank)])
        return len(failed)

    async def go_on_stalled(self) -> None:
        """Move on the lines of tenants that have no job in the queue, whose end would do so."""
        for row in (await self.session.execute(_STALLED, {"lanes": [lane.value for lane in Lane]})).all():
            await self.go_on(row.tenant, Lane(row.lane))

    async def go_on(self, tenant: str, lane: Lane, ended: int = 0) -> None:
        """Move the tenant's next jobs to the queue, up to the ceiling. `ended` is a job that has just ended."""
        await self.session.execute(_LOCK, {"tenant": tenant})
        parameters = {"tenant": tenant, "lane": lane.value, "ended": ended, "ceiling": self.ceiling}
        # A duplicate gives its place to the next job: without a job in the queue, nothing would move the line on.
        joined = False
        while not joined:
            taken, joined = (await self.session.execute(_NEXT, parameters)).all(), True
            for place, row in enumerate(sorted(taken, key=lambda row: (row.rank, row.id))):
                # A tenant's first job precedes the second one of any other.
                job = Job(row.task, row.arguments, row.claim, row.rank)
                joined &= await self._defer(tenant, lane, job, priority=-(row.running + place))

    async def _defer(self, tenant: str, lane: Lane, job: Job, priority: int) -> bool:
        """Add a job to the queue; False if its claim is there already."""
        connection = await driver_connection(self.session)
        deferrer = self.app.configure_task(
            job.task, queue=lane.value, priority=priority, queueing_lock=job.claim, connection=connection
        )
        try:
            # A savepoint of the driver: the session's own begins only when the session itself uses the connection.
            async with connection.transaction():
                await deferrer.defer_async(tenant=tenant, **job.arguments)
        except AlreadyEnqueued:
            return False  # another tenant's job does the same, and came first
        except ConnectorException as error:
            raise error.__cause__ or error from None  # like the session's own errors, such as a lost connection
        return True


def _caused(job: Job) -> Job:
    """The job with its time, the trace (W3C `traceparent`), and the request's id unless it has one."""
    added: dict[str, Any] = {"enqueued_at": time.time()}
    TraceContextTextMapPropagator().inject(added)
    added.pop("tracestate", None)
    request_id = bound_request_id()
    caused = {} if request_id is None else {"request_id": request_id}
    return replace(job, arguments={**caused, **job.arguments, **added})


def _claims(version_id: int, model_version: str) -> str:
    return f"references of version {version_id} by {model_version} from "


def _claim(version_id: int, model_version: str, chunk: Sequence[int]) -> str:
    """The claim on a chunk. Tenants may divide a version differently, so all attributes of the chunk identify it."""
    return f"{_claims(version_id, model_version)}{chunk[0]}: {sha256(str(list(chunk)).encode()).hexdigest()[:32]}"
