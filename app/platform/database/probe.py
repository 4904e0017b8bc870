"""Health checks of the database and its queue, on a separate connection and with short timeouts."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.rows import TupleRow

from app.platform.database.migrations import BEHIND, SCHEMA, mismatch
from app.platform.database.session import REACHABLE
from app.platform.queue.model import Lane

#: The timeout of a check in seconds, and the age at which metrics are read again.
PATIENCE, RECENT = 1.5, 5.0

#: Seconds after a heartbeat in which a worker counts as alive; heartbeats come every second.
HEARD_WITHIN = 5

#: The least number of a tenant's waiting jobs that counts as many; from two on they are a few.
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
    """The result of a health check of the database.

    Attributes:
        seconds: the time of a statement.
        workers: the number of workers with a heartbeat in the last seconds.
    """

    seconds: float
    workers: int
    mismatch: str | None = None


@dataclass(frozen=True, slots=True)
class HeardLane:
    """A lane of a worker.

    Attributes:
        id: its number, new with each start.
    """

    id: int
    heard_seconds: float
    lane: str | None = None
    task: str | None = None

    @property
    def is_alive(self) -> bool:
        """Whether its last heartbeat is recent."""
        return self.heard_seconds < HEARD_WITHIN


@dataclass(frozen=True, slots=True)
class Backlog:
    """Waiting jobs of a lane, by the number of jobs that a tenant has there.

    Attributes:
        size: how many jobs of a tenant wait: `one`, `few` or `many`.
        oldest_seconds: the age of the oldest one.
    """

    lane: Lane
    size: str
    jobs: int = 0
    oldest_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Queue:
    """The waiting and running jobs.

    Attributes:
        events: the number of pending webhook events.
    """

    backlogs: tuple[Backlog, ...]
    running: Mapping[Lane, int]
    events: int = 0
    oldest_event_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ProbeReading:
    """The last reading: no pulse if the database did not respond, no queue if it was not read in time."""

    pulse: Pulse | None = None
    queue: Queue | None = None


class Probe:
    """Checks the database. Concurrent checks of the same thing share one statement.

    A suspended server accepts statements and never responds. Then a check ends without a result, but its statement
    goes on, since cancelling it would take longer.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: psycopg.AsyncConnection[TupleRow] | None = None
        self._turn = asyncio.Lock()
        self._looks: dict[str, asyncio.Task[_Answer | None]] = {}
        self._read_at = -RECENT
        self.last = ProbeReading()

    async def pulse(self) -> Pulse | None:
        """A health check; None if the database does not respond within `PATIENCE`."""
        answer = await self._ask(_HEARD)
        if answer is None:
            return None
        if not answer.rows:
            return Pulse(answer.seconds, 0, BEHIND)
        [(compatible, revision, heard)] = answer.rows
        # Every lane of a worker has its own heartbeat.
        return Pulse(answer.seconds, -(-heard // len(Lane)), mismatch(compatible, revision))

    async def read(self) -> ProbeReading:
        """The last reading, repeated if it is older than `RECENT` seconds."""
        if time.monotonic() - self._read_at >= RECENT:
            pulse = await self.pulse()
            answer = None if pulse is None else await self._ask(_QUEUE)
            self.last = ProbeReading(pulse, None if answer is None else _queue_of(answer.rows))
            self._read_at = time.monotonic()
        return self.last

    async def workers(self) -> tuple[HeardLane, ...]:
        """The lanes of workers, the latest heartbeat first; none if the database does not respond in time."""
        answer = await self._ask(_WORKERS)
        return () if answer is None else tuple(HeardLane(*row) for row in answer.rows)

    async def close(self) -> None:
        """Cancel the checks and close the connection."""
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
    """The rows of a statement and its duration in seconds."""

    rows: list[TupleRow]
    seconds: float


def _queue_of(rows: list[TupleRow]) -> Queue:
    """The queue from its rows; missing rows count as 0, so that every lane has a value."""
    waiting = {(lane, size): (jobs, oldest) for kind, lane, size, jobs, oldest in rows if kind == "waiting"}
    running = {lane: jobs for kind, lane, _, jobs, _ in rows if kind == "running"}
    backlogs = tuple(
        Backlog(lane, size, *waiting.get((lane.value, size), (0, 0.0)))
        for lane in Lane
        for size in ("one", "few", "many")
    )
    events = next(((number, oldest) for kind, _, _, number, oldest in rows if kind == "events"), (0, 0.0))
    return Queue(backlogs, {lane: running.get(lane.value, 0) for lane in Lane}, *events)
