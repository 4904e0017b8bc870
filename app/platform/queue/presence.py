"""Liveness of workers, and the recovery of jobs whose worker died: they return to the queue.

A heartbeat alone does not distinguish slow from dead. So a worker also takes an advisory lock for each of its rows,
on a separate connection: the kernel closes the connection of a process that ends, and PostgreSQL frees its locks at
once. A slow process still has them.
"""

import asyncio
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import psycopg
from psycopg.rows import TupleRow

from app.platform.database.session import COMMIT_SOON, REACHABLE

#: Seconds of steady heartbeats before a worker takes jobs from others. After a restart of the database all locks are
#: free; by then, living workers have theirs again.
SETTLED_AFTER = 4.0

#: Seconds without a response, many heartbeats long, after which the database counts as unreachable.
AWAY_AFTER = 3.0

#: The name of the connection in `pg_stat_activity`.
APPLICATION = "aegis-worker"

#: The server must also notice an unreachable machine and free its locks.
_SERVER_SIDE = "SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3; "

#: Seconds without a heartbeat after which a worker counts as dead: without its lock, and in any case, since it may be
#: frozen or on an unreachable machine. Slow workers never come near the latter.
STALLED_AFTER, LOST_AFTER = 3.0, 60.0

#: Seconds after which a worker gives back a job that is assigned to it but that it does not run, because the response
#: to its fetch was lost with the connection. Ending a finished job takes less.
UNKNOWN_AFTER = 10.0

#: The most failed tries of a job, and the most tries that its workers did not survive. The latter are rarely the job's
#: fault: machines restart, and one job's crash takes the other lane's job along. But a job that kills its worker every
#: time (out of memory, for example) must end, too.
ATTEMPTS, INTERRUPTIONS = 3, 10

#: The class of the workers' advisory locks (an arbitrary number).
LOCK_CLASS = 6_120_902

_BEAT = """
WITH heard AS (
    UPDATE procrastinate_workers SET last_heartbeat = now() WHERE id = ANY(%(ids)s::bigint[]) RETURNING id
)
SELECT extract(epoch FROM now())::float8, array(SELECT id FROM heard)
"""
_LOCK = "SELECT pg_try_advisory_lock(%s, (%s & 2147483647)::int)"
_UNLOCK = "SELECT pg_advisory_unlock(%s, (%s & 2147483647)::int)"
_REGISTER = "SELECT worker_id FROM procrastinate_register_worker_v1()"
_ATTACH = """
UPDATE procrastinate_jobs SET worker_id = %(new)s
WHERE id = ANY(%(jobs)s::bigint[]) AND status = 'doing' AND (worker_id IS NULL OR worker_id = %(old)s)
"""

_DEAD = """
SELECT id FROM procrastinate_workers AS worker
WHERE last_heartbeat < now() - make_interval(secs => %(stalled)s) AND (
    last_heartbeat < now() - make_interval(secs => %(lost)s) OR NOT EXISTS (
        SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            AND classid = %(lock_class)s AND objid = (worker.id & 2147483647)::int::oid AND objsubid = 2
    )
)
"""
_ABANDONED = """
SELECT id, worker_id FROM procrastinate_jobs
WHERE status = 'doing' AND (worker_id IS NULL OR worker_id = ANY(%(dead)s::bigint[])
    OR (worker_id = ANY(%(own)s::bigint[]) AND id <> ALL(%(running)s::bigint[]))) ORDER BY id
"""
# Every try is an event. Procrastinate's own retry would count an interruption as a failure. If another job with the
# same claim waits already (after a move to the other lane, for example), this one gives up the claim.
_TAKE = """
UPDATE procrastinate_jobs AS job SET worker_id = NULL,
    status = (CASE WHEN abort_requested THEN 'failed' ELSE 'todo' END)::procrastinate_job_status,
    attempts = CASE WHEN interruptions < %(most)s THEN attempts ELSE greatest(attempts, %(attempts)s) END,
    queueing_lock = CASE WHEN EXISTS (
        SELECT FROM procrastinate_jobs AS other
        WHERE other.queueing_lock = job.queueing_lock AND other.status = 'todo'
    ) THEN NULL ELSE queueing_lock END
FROM (
    SELECT tried.id AS tried_id, count(event.id) - tried.attempts AS interruptions
    FROM procrastinate_jobs AS tried LEFT JOIN procrastinate_events AS event
        ON event.job_id = tried.id AND event.type = 'started'
    WHERE tried.id = %(id)s GROUP BY tried.id
) AS history
WHERE id = tried_id AND status = 'doing' AND worker_id IS NOT DISTINCT FROM %(worker)s
RETURNING id, task_name, args ->> 'request_id', interruptions
"""
_HOLD_OWN = """
SELECT id FROM procrastinate_jobs
WHERE id = %(id)s AND status = 'doing' AND worker_id IS NOT DISTINCT FROM %(worker)s FOR UPDATE
"""
_FORGET_TRY = """
DELETE FROM procrastinate_events
WHERE id = (SELECT max(id) FROM procrastinate_events WHERE job_id = %(id)s AND type = 'started')
"""
_REMOVE = """
DELETE FROM procrastinate_workers
WHERE id = ANY(%(dead)s::bigint[]) AND last_heartbeat < now() - make_interval(secs => %(stalled)s)
"""


class Registered(Protocol):
    """A registered worker."""

    worker_id: int | None

    @property
    def running(self) -> Collection[int]:
        """The ids of the jobs that it runs."""


@dataclass(frozen=True, slots=True)
class RecoveredJob:
    """A job that was returned to the queue because its worker died.

    Attributes:
        interruptions: the number of its tries that a worker did not survive.
    """

    id: int
    task: str
    request_id: str | None
    interruptions: int


class Presence:
    """Shows on a separate connection that a process lives, and looks for dead ones.

    A suspended server accepts statements and never responds. Then a heartbeat waits for it, and its locks remain.

    Args:
        settled_after: seconds of steady heartbeats before `recover_jobs` takes jobs.

    Raises:
        psycopg.Error: the database does not respond to a method.
    """

    def __init__(self, url: str, settled_after: float = SETTLED_AFTER) -> None:
        self._url = url
        self._settled_after = settled_after
        self._connection: psycopg.AsyncConnection[TupleRow] | None = None
        self._turn = asyncio.Lock()
        self._locked: set[int] = set()
        self._beat_at = self._steady_since = 0.0  # by the server's clock; 0 on a new connection
        self._answered_at = time.monotonic()
        self._orphans: dict[int, float] = {}  # jobs that still have time to be claimed

    @property
    def is_away(self) -> bool:
        """Whether the database has not responded for some time."""
        return time.monotonic() - self._answered_at > AWAY_AFTER

    def holds(self, worker_id: int) -> bool:
        """Whether this worker has its lock and may take jobs: without the lock, it would lose them if it were slow."""
        return worker_id in self._locked

    async def beat(self, workers: Sequence[Registered]) -> list[int]:
        """Send the heartbeats of workers; register those again whose row or lock is gone.

        A crash of the server may undo the registration, and an operator may delete it.

        Returns:
            The new ids of those that were registered again.
        """
        for was_open in (self._connection is not None, False):
            try:
                async with self._turn:
                    renewed = await self._beat(workers)
            except (psycopg.Error, OSError):
                if self._connection is not None and self._connection.closed:
                    await self.close()
                if not was_open:
                    raise
            else:
                self._answered_at = time.monotonic()
                return renewed
        return []

    async def _beat(self, workers: Sequence[Registered]) -> list[int]:
        connection = await self._connected()
        ids = [worker.worker_id for worker in workers if worker.worker_id is not None]
        row = await (await connection.execute(_BEAT, {"ids": ids})).fetchone()
        now, heard = row or (0.0, [])
        # A gap (after a suspend, for example) is like a new connection: other workers may have missed heartbeats, too.
        if now - self._beat_at > STALLED_AFTER:
            self._steady_since = now
        self._beat_at = now
        for worker_id in self._locked - set(ids):
            await connection.execute(_UNLOCK, [LOCK_CLASS, worker_id])
            self._locked.discard(worker_id)
        present = {one for one in ids if one in heard and await self._lock(one)}
        gone = [worker for worker in workers if worker.worker_id in set(ids) - present]
        return [await self._register(worker) for worker in gone]

    async def _lock(self, worker_id: int) -> bool:
        """Take the lock of a row; False if another process has it, which got the same number after a crash."""
        if worker_id not in self._locked:
            cursor = await (await self._connected()).execute(_LOCK, [LOCK_CLASS, worker_id])
            if await cursor.fetchone() != (True,):
                return False
            self._locked.add(worker_id)
        return True

    async def _register(self, worker: Registered) -> int:
        connection, old = await self._connected(), worker.worker_id
        async with connection.transaction():
            row = await (await connection.execute(_REGISTER)).fetchone()
            new = int(row[0]) if row else 0
            await connection.execute(_ATTACH, {"new": new, "old": old, "jobs": list(worker.running)})
        worker.worker_id = new
        await self._lock(new)
        return new

    async def recover_jobs(self, workers: Sequence[Registered] = ()) -> list[RecoveredJob]:
        """Return the jobs of dead workers to the queue and remove these workers. Safe to run concurrently.

        Jobs that are assigned to workers of this process but that they do not run are returned, too.
        """
        async with self._turn:
            connection = self._connection
            if connection is None or self._beat_at - self._steady_since < self._settled_after:
                return []
            limits = {"stalled": STALLED_AFTER, "lost": LOST_AFTER, "lock_class": LOCK_CLASS}
            dead = [row[0] for row in await (await connection.execute(_DEAD, limits)).fetchall()]
            own = {worker.worker_id for worker in workers if worker.worker_id is not None}
            running = [job_id for worker in workers for job_id in worker.running]
            asked = {"dead": dead, "own": list(own), "running": running}
            abandoned = await (await connection.execute(_ABANDONED, asked)).fetchall()
            taken = []
            for job_id, worker_id in self._due(abandoned, own):  # one by one, since two may have the same claim
                taken += await (await connection.execute(_TAKE, _known(job_id, worker_id))).fetchall()
            if dead:
                await connection.execute(_REMOVE, {"dead": dead, "stalled": STALLED_AFTER})
            return [RecoveredJob(*row) for row in taken]

    def _due(self, abandoned: Sequence[TupleRow], own: Collection[int]) -> list[tuple[Any, ...]]:
        """The jobs to return now.

        A dead worker's job at once; a job without a worker after time for the worker to register again; one of this
        process after time for the job to end.
        """
        now, due = time.monotonic(), []
        self._orphans = {
            job_id: self._orphans.get(job_id, now) for job_id, worker in abandoned if worker is None or worker in own
        }
        for job_id, worker in abandoned:
            patience = UNKNOWN_AFTER if worker in own else STALLED_AFTER if worker is None else 0.0
            if now - self._orphans.get(job_id, now) >= patience:
                due.append((job_id, worker))
        return due

    async def give_back(self, job_id: int, worker_id: int | None) -> None:
        """Return a running job to the queue because its worker stops, as if it had not begun.

        Another worker may have it by now.
        """
        async with self._turn:
            connection, known = await self._connected(), _known(job_id, worker_id)
            async with connection.transaction():
                if await (await connection.execute(_HOLD_OWN, known)).fetchone():
                    for statement in (_FORGET_TRY, _TAKE):
                        await connection.execute(statement, known)

    async def _connected(self) -> psycopg.AsyncConnection[TupleRow]:
        if self._connection is None:
            options: dict[str, Any] = {**REACHABLE, "connect_timeout": 2, "application_name": APPLICATION}
            opened = await psycopg.AsyncConnection.connect(self._url, autocommit=True, **options)
            self._connection, self._beat_at = opened, 0.0
            await opened.execute(_SERVER_SIDE + COMMIT_SOON)
        return self._connection

    async def close(self) -> None:
        """Close the connection, which frees the locks."""
        connection, self._connection = self._connection, None
        self._locked.clear()
        if connection is not None:
            await connection.close()


def _known(job_id: int, worker_id: int | None) -> dict[str, Any]:
    return {"id": job_id, "worker": worker_id, "most": INTERRUPTIONS, "attempts": ATTEMPTS}
