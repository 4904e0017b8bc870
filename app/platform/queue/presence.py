"""Liveness of workers.

A heartbeat alone does not distinguish slow from dead. So a worker also takes an advisory lock for each of its rows,
on a separate connection: the kernel closes the connection of a process that ends, and PostgreSQL frees its locks at
once. A slow process still has them.
"""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg.rows import TupleRow

from app.platform.database.session import COMMIT_SOON, REACHABLE
from app.platform.queue.recovery import LOCK_CLASS, STALLED_AFTER, RecoveredJob, Recovery, Registered, give_back

#: Seconds of steady heartbeats before a worker takes jobs from others. After a restart of the database all locks are
#: free; by then, living workers have theirs again.
SETTLED_AFTER = 4.0

#: Seconds without a response, many heartbeats long, after which the database counts as unreachable.
AWAY_AFTER = 3.0

#: The name of the connection in `pg_stat_activity`.
APPLICATION = "aegis-worker"

#: The server must also notice an unreachable machine and free its locks.
_SERVER_SIDE = "SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3; "

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


class Presence:
    """Shows on a separate connection that a process lives, and looks for dead ones.

    A suspended server accepts statements and never responds. Then a heartbeat waits for it, and its locks remain.

    Args:
        url: the database.
        settled_after: seconds of steady heartbeats before `recover_jobs` takes jobs.
    """

    def __init__(self, url: str, settled_after: float = SETTLED_AFTER) -> None:
        self._url = url
        self._settled_after = settled_after
        self._connection: psycopg.AsyncConnection[TupleRow] | None = None
        self._turn = asyncio.Lock()
        self._locked: set[int] = set()
        self._beat_at = self._steady_since = 0.0  # by the server's clock; 0 on a new connection
        self._answered_at = time.monotonic()
        self._recovery = Recovery()

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

        Raises:
            psycopg.Error: the database does not respond.
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
        """Register a worker again, with its running jobs."""
        connection, old = await self._connected(), worker.worker_id
        async with connection.transaction():
            row = await (await connection.execute(_REGISTER)).fetchone()
            new = int(row[0]) if row else 0
            await connection.execute(_ATTACH, {"new": new, "old": old, "jobs": list(worker.running)})
        worker.worker_id = new
        await self._lock(new)
        return new

    async def recover_jobs(self, workers: Sequence[Registered] = ()) -> list[RecoveredJob]:
        """Return abandoned jobs to the queue (see `Recovery`).

        Args:
            workers: the workers of this process.

        Raises:
            psycopg.Error: the database does not respond.
        """
        async with self._turn:
            if self._connection is None or self._beat_at - self._steady_since < self._settled_after:
                return []
            return await self._recovery.recover_jobs(self._connection, workers)

    async def give_back(self, job_id: int, worker_id: int | None) -> None:
        """Return a running job to the queue because its worker stops; this does not count as a failure.

        Raises:
            psycopg.Error: the database does not respond.
        """
        async with self._turn:
            await give_back(await self._connected(), job_id, worker_id)

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
