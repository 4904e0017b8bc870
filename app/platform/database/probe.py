"""A look at the database and its queue, over a connection of its own, that never waits long."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.rows import TupleRow

from app.platform.database.schema import BEHIND, SCHEMA, mismatch
from app.platform.database.session import REACHABLE
from app.platform.queue.lane import Lane

#: Seconds that a look takes at most, and after which what was read is read again for metrics.
PATIENCE, RECENT = 1.5, 5.0

#: Seconds for which a worker counts as alive after its heartbeat; there is one in each second.
HEARD_WITHIN = 5

#: A tenant with as many waiting jobs or more has many; with fewer, but more than one, it has a few.
MANY = 10

#: The name of the connection in `pg_stat_activity`.
APPLICATION = "aegis-probe"

_LIMIT = "SET statement_timeout = '1s'"

_HEARD = (
    f"{SCHEMA}, "  # noqa: S608 -- a constant
    "(SELECT count(*) FROM procrastinate_workers WHERE last_heartbeat > now() - make_interval(secs => %(within)s))"
)
_WORKERS = """
SELECT worker.id, greatest(0, extract(epoch FROM now() - last_heartbeat))::float8, queue_name, task_name
FROM procrastinate_workers AS worker LEFT JOIN procrastinate_jobs AS job
    ON worker_id = worker.id AND status = 'doing'
ORDER BY last_heartbeat DESC, worker.id LIMIT 100
"""
_QUEUE = """
WITH waiting AS (
    SELECT lane, tenant, arguments -> 'enqueued_at' AS since FROM waiting_job
    UNION ALL
    SELECT queue_name, args ->> 'tenant', args -> 'enqueued_at' FROM procrastinate_jobs WHERE status = 'todo'
), tenants AS (
    SELECT lane, count(*) AS jobs, min(since::float8) AS since FROM waiting GROUP BY lane, tenant
)
SELECT 'waiting', lane, CASE WHEN jobs = 1 THEN 'one' WHEN jobs < %(many)s THEN 'few' ELSE 'many' END AS size,
    sum(jobs)::int, coalesce(greatest(0, extract(epoch FROM now()) - min(since)), 0)::float8
FROM tenants GROUP BY lane, size
UNION ALL
SELECT 'running', queue_name, '', count(*)::int, 0 FROM procrastinate_jobs WHERE status = 'doing' GROUP BY queue_name
UNION ALL
SELECT 'events', '', '', count(*)::int, coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8
FROM delivery WHERE status = 'pending'
"""


@dataclass(frozen=True, slots=True)
class Pulse:
    """A sign of life of the database.

    Attributes:
        seconds: the time of a statement.
        workers: how many workers were heard of in the last seconds.
        mismatch: why this version of the service does not work with the schema; None if it does.
    """

    seconds: float
    workers: int
    mismatch: str | None = None


@dataclass(frozen=True, slots=True)
class HeardLane:
    """One lane of a worker.

    Attributes:
        id: its number, new with each start.
        heard_seconds: how long ago it was last heard of.
        lane: of the job that it runs; None if it runs none.
        task: what this job does.
    """

    id: int
    heard_seconds: float
    lane: str | None = None
    task: str | None = None

    @property
    def is_alive(self) -> bool:
        """Whether it was heard of lately."""
        return self.heard_seconds < HEARD_WITHIN


@dataclass(frozen=True, slots=True)
class Backlog:
    """Waiting jobs of a lane, of the tenants that have so many there.

    Attributes:
        lane: the lane.
        size: how many jobs of one tenant wait: `one`, `few` or `many`.
        jobs: how many jobs of these tenants wait, together.
        oldest_seconds: the age of the oldest one.
    """

    lane: Lane
    size: str
    jobs: int = 0
    oldest_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Queue:
    """The queue: what waits, and how many jobs of each lane run.

    Attributes:
        backlogs: waiting jobs.
        running: running jobs by lane.
        events: how many events wait for their webhooks.
        oldest_event_seconds: the age of the oldest of them.
    """

    backlogs: tuple[Backlog, ...]
    running: Mapping[Lane, int]
    events: int = 0
    oldest_event_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ProbeReading:
    """What was read last: no pulse if the database did not answer, no queue if it was not read in time."""

    pulse: Pulse | None = None
    queue: Queue | None = None


class Probe:
    """Looks at the database. Looks at the same thing at the same time share one statement.

    A server that is stopped takes statements and never answers. Then a look ends without a result, and its statement
    goes on: to cancel it would take longer.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: psycopg.AsyncConnection[TupleRow] | None = None
        self._turn = asyncio.Lock()
        self._looks: dict[str, asyncio.Task[_Answer | None]] = {}
        self._read_at = -RECENT
        self.last = ProbeReading()

    async def pulse(self) -> Pulse | None:
        """A sign of life, or None if the database does not answer within `PATIENCE`."""
        answer = await self._ask(_HEARD)
        if answer is None:
            return None
        if not answer.rows:
            return Pulse(answer.seconds, 0, BEHIND)
        [(compatible, revision, heard)] = answer.rows
        # A worker has a heartbeat for each of its lanes.
        return Pulse(answer.seconds, -(-heard // len(Lane)), mismatch(compatible, revision))

    async def read(self) -> ProbeReading:
        """What was read in the last `RECENT` seconds, or what is read now."""
        if time.monotonic() - self._read_at >= RECENT:
            pulse = await self.pulse()
            answer = None if pulse is None else await self._ask(_QUEUE)
            self.last = ProbeReading(pulse, None if answer is None else _queue_of(answer.rows))
            self._read_at = time.monotonic()
        return self.last

    async def workers(self) -> tuple[HeardLane, ...]:
        """The lanes of workers, those first that were heard of last; none if the database does not answer in time."""
        answer = await self._ask(_WORKERS)
        return () if answer is None else tuple(HeardLane(*row) for row in answer.rows)

    async def close(self) -> None:
        """End the looks and the connection."""
        for look in self._looks.values():
            look.cancel()
        if self._looks:
            await asyncio.wait(self._looks.values(), timeout=PATIENCE)
        await self._disconnect()

    async def _ask(self, statement: str) -> "_Answer | None":
        look = self._looks.get(statement)
        if look is None or look.done():
            look = self._looks[statement] = asyncio.create_task(self._look(statement))
        done, _ = await asyncio.wait([look], timeout=PATIENCE)
        return look.result() if done else None

    async def _look(self, statement: str) -> "_Answer | None":
        """Run a statement; once more on a new connection if the server has closed the old one."""
        async with self._turn:
            for is_kept in (self._connection is not None, False):
                try:
                    return await self._answer(statement)
                except psycopg.errors.QueryCanceled:  # it took longer than `_LIMIT`
                    return None
                except (psycopg.Error, OSError):
                    await self._disconnect()
                    if not is_kept:
                        break
            return None

    async def _answer(self, statement: str) -> "_Answer":
        if self._connection is None:
            options: dict[str, Any] = {**REACHABLE, "application_name": APPLICATION}
            self._connection = await psycopg.AsyncConnection.connect(self._url, autocommit=True, **options)
            await self._connection.execute(_LIMIT)
        start = time.perf_counter()
        try:
            cursor = await self._connection.execute(statement, {"within": HEARD_WITHIN, "many": MANY})
        except psycopg.errors.UndefinedTable:  # the schema is older than this version
            return _Answer([], time.perf_counter() - start)
        return _Answer(await cursor.fetchall(), time.perf_counter() - start)

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()


@dataclass(frozen=True, slots=True)
class _Answer:
    """The rows of a statement, and how many seconds it took."""

    rows: list[TupleRow]
    seconds: float


def _queue_of(rows: list[TupleRow]) -> Queue:
    """The queue from its rows. What has none is 0, so that every lane always has a value."""
    waiting = {(lane, size): (jobs, oldest) for kind, lane, size, jobs, oldest in rows if kind == "waiting"}
    running = {lane: jobs for kind, lane, _, jobs, _ in rows if kind == "running"}
    backlogs = tuple(
        Backlog(lane, size, *waiting.get((lane.value, size), (0, 0.0)))
        for lane in Lane
        for size in ("one", "few", "many")
    )
    events = next(((number, oldest) for kind, _, _, number, oldest in rows if kind == "events"), (0, 0.0))
    return Queue(backlogs, {lane: running.get(lane.value, 0) for lane in Lane}, *events)
