"""Database sessions, and one error for all failures to reach the database."""

import asyncio
import select
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, cast

import psycopg
import structlog
from sqlalchemy import event, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    DisconnectionError,
    InterfaceError,
    OperationalError,
    ProgrammingError,
)
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from app.platform.errors import DatabaseUnavailableError, OverloadedError, SchemaMismatchError

_log = structlog.get_logger(__name__)

#: For every TCP connection. Without them, an unreachable host would block one for a quarter of an hour: the limit
#: applies while data are sent, the other three while a response is awaited. Only Linux has the limit.
REACHABLE: Mapping[str, Any] = {
    "connect_timeout": 5,
    "tcp_user_timeout": 10_000,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
}

#: The most requests that may wait for a connection, and their timeout in seconds. At 10 ms per request, the last one
#: waits some four seconds; clients give up after longer waits.
MOST_WAITING, LONGEST_WAIT = 400, 20.0

#: For sessions that may lose their last commits, in order, when the database server crashes.
COMMIT_SOON = "SET synchronous_commit TO off"

_COMMIT_NOW = text("SET LOCAL synchronous_commit TO on")

#: The errors of statements on an older schema.
_MISSING = (psycopg.errors.UndefinedColumn, psycopg.errors.UndefinedFunction, psycopg.errors.UndefinedTable)

_AWAY = (OperationalError, InterfaceError, psycopg.OperationalError)


def dialect_url(url: str) -> str:
    """Convert a libpq URL into SQLAlchemy's form, with psycopg as the driver.

    Raises:
        DatabaseUnavailableError: the URL is invalid.
    """
    try:
        return make_url(url).set(drivername="postgresql+psycopg").render_as_string(hide_password=False)
    except ArgumentError:
        raise DatabaseUnavailableError("The database URL must have the form postgresql://USER@HOST/DATABASE.") from None


class StatementFailedError(Exception):
    """A statement failed. The driver's message is omitted: it quotes the row, which must not be logged."""

    def __init__(self, error: DBAPIError) -> None:
        cause = error.orig
        about = cause.diag if isinstance(cause, psycopg.Error) else None
        named = f" by {about.constraint_name} of {about.table_name}" if about and about.constraint_name else ""
        super().__init__(f"{type(cause).__name__}{named}")


@contextmanager
def clear_errors() -> Iterator[None]:
    """Turn connection errors into DatabaseUnavailableError, and all others into StatementFailedError."""
    try:
        yield
    except _AWAY as error:
        raise DatabaseUnavailableError("The catalogue's database cannot be reached.") from error
    except DBAPIError as error:
        if error.connection_invalidated:
            raise DatabaseUnavailableError("The connection to the catalogue's database was lost.") from error
        raise StatementFailedError(error).with_traceback(error.__traceback__) from None


async def commit_now(session: AsyncSession) -> None:
    """Make a transaction and all earlier commits durable, also in a session that may lose commits."""
    await session.execute(_COMMIT_NOW)


async def driver_connection(session: AsyncSession) -> psycopg.AsyncConnection[Any]:
    """The psycopg connection of a session, in its transaction, for features that SQLAlchemy lacks."""
    connection = await (await session.connection()).get_raw_connection()
    return cast("psycopg.AsyncConnection[Any]", connection.driver_connection)


def _refuse_closed(_: object, record: ConnectionPoolEntry, *__: object) -> None:
    """Have the pool replace a connection that the server has closed.

    An idle server sends only its termination message, so it is enough to check the socket. A ping would cost every
    transaction a round trip.

    Raises:
        DisconnectionError: the connection is closed, or the server has sent something.
    """
    connection = cast("psycopg.AsyncConnection[Any]", record.driver_connection)
    if not connection.closed:
        socket = select.poll()
        socket.register(connection.fileno(), select.POLLIN)
        if not socket.poll(0):
            return
    raise DisconnectionError


@dataclass(frozen=True, slots=True)
class PoolUsage:
    """The size of a pool, its connections in use, and the transactions that wait for one."""

    size: int
    in_use: int
    waiting: int


class Database:
    """A pool of connections to one PostgreSQL database.

    Args:
        can_lose_commits: whether commits need not wait for the disk. A crash of the database server may undo the last
            ones, so their results must be recomputed automatically.
    """

    def __init__(self, url: str, *, pool_size: int = 10, can_lose_commits: bool = False) -> None:
        self._engine = create_async_engine(
            dialect_url(url),
            connect_args=dict(REACHABLE),
            pool_size=pool_size,
            max_overflow=0,
            # Logged errors have the statement without its parameters, which may be counts or the hash of a key.
            hide_parameters=True,
        )
        event.listen(self._engine.sync_engine, "checkout", _refuse_closed)
        if can_lose_commits:
            event.listen(self._engine.sync_engine, "connect", lambda made, _: made.cursor().execute(COMMIT_SOON))
        self._sessions = async_sessionmaker(self._engine, expire_on_commit=False)
        self._connections = asyncio.Semaphore(pool_size)
        self._size = pool_size
        self._in_use = 0
        self._waiting = 0

    @property
    def usage(self) -> PoolUsage:
        """The current use of the pool."""
        return PoolUsage(self._size, self._in_use, self._waiting)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncSession]:
        """A session in a transaction, which is committed when the block ends and rolled back if it raises.

        Raises:
            OverloadedError: too many transactions wait for a connection, or this one waited too long.
            DatabaseUnavailableError: the database cannot be reached.
            SchemaMismatchError: the database has not been migrated to this version.
            StatementFailedError: the database refuses a statement.
        """
        async with self._connection():
            with clear_errors():
                try:
                    async with self._sessions() as session, session.begin():
                        yield session
                except ProgrammingError as error:
                    if not isinstance(error.orig, _MISSING):
                        raise
                    missing = error.orig.diag.message_primary
                    _log.warning("schema mismatch", error=type(error.orig).__name__, missing=missing)
                    message = "The database's schema is not that of this version of the service."
                    raise SchemaMismatchError(message) from error

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[None]:
        """Wait for a free connection, first come, first served; refuse at once if the queue is too long."""
        if self._connections.locked() and self._waiting >= MOST_WAITING:
            raise OverloadedError("Too many requests wait for the database. Try again after Retry-After.")
        self._waiting += 1
        try:
            async with asyncio.timeout(LONGEST_WAIT):
                await self._connections.acquire()
        except TimeoutError:
            raise OverloadedError(
                "The request waited too long for the database. Try again after Retry-After."
            ) from None
        finally:
            self._waiting -= 1
        self._in_use += 1
        try:
            yield
        finally:
            self._in_use -= 1
            self._connections.release()

    async def ping(self) -> None:
        """Make one round trip to the database.

        Raises:
            DatabaseUnavailableError: the database cannot be reached.
        """
        async with self.transaction() as session:
            await session.execute(text("SELECT 1"))

    async def close(self) -> None:
        """Close all connections."""
        await self._engine.dispose()
