"""Database sessions for the rest of the service, and one error for all failures to reach the database."""

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
from sqlalchemy.engine.interfaces import DBAPIConnection
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

#: For every connection over TCP. A host that is cut off must not keep one for a quarter of an hour: the limit tells
#: while something is sent, the other three while an answer is awaited. Other systems than Linux ignore the limit.
REACHABLE: Mapping[str, Any] = {
    "connect_timeout": 5,
    "tcp_user_timeout": 10_000,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
}

#: The most requests that may wait for a connection, and the seconds that one of them waits. At 10 ms for each request,
#: the last one of so many waits some four seconds; clients give up after longer waits.
MOST_WAITING, LONGEST_WAIT = 400, 20.0

#: For sessions that may lose their last commits when the database server crashes. It loses them in order.
COMMIT_SOON = "SET synchronous_commit TO off"

_COMMIT_NOW = text("SET LOCAL synchronous_commit TO on")

#: What statements meet on a schema that is older than they are.
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
    """A statement failed. The driver's message is left out: it quotes the row, and logs must not contain rows."""

    def __init__(self, error: DBAPIError) -> None:
        cause = error.orig
        about = cause.diag if isinstance(cause, psycopg.Error) else None
        named = f" by {about.constraint_name} of {about.table_name}" if about and about.constraint_name else ""
        super().__init__(f"{type(cause).__name__}{named}")


@contextmanager
def clear_errors() -> Iterator[None]:
    """Turn errors of reaching the database into DatabaseUnavailableError, all others into StatementFailedError."""
    try:
        yield
    except _AWAY as error:
        raise DatabaseUnavailableError("The catalogue's database cannot be reached.") from error
    except DBAPIError as error:
        if error.connection_invalidated:
            raise DatabaseUnavailableError("The connection to the catalogue's database was lost.") from error
        raise StatementFailedError(error).with_traceback(error.__traceback__) from None


async def commit_now(session: AsyncSession) -> None:
    """Let a transaction last, also in a session that may lose commits, and with it all that was committed before."""
    await session.execute(_COMMIT_NOW)


async def driver_connection(session: AsyncSession) -> psycopg.AsyncConnection[Any]:
    """The psycopg connection of a session, in its transaction, for features that SQLAlchemy does not have."""
    connection = await (await session.connection()).get_raw_connection()
    return cast("psycopg.AsyncConnection[Any]", connection.driver_connection)


def _refuse_closed(_: object, record: ConnectionPoolEntry, *__: object) -> None:
    """Let the pool replace a connection that the server has closed.

    An idle server sends nothing but its goodbye, so a look at the socket is enough. A ping would cost every transaction
    a round trip.

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


def _commit_soon(connection: DBAPIConnection, _: object) -> None:
    connection.cursor().execute(COMMIT_SOON)


@dataclass(frozen=True, slots=True)
class PoolUsage:
    """How many connections a pool has at most, how many are in use, and how many transactions wait for one."""

    size: int
    in_use: int
    waiting: int


class Database:
    """A pool of connections to one PostgreSQL database.

    Args:
        url: where the database is.
        pool_size: how many connections there are at most.
        can_lose_commits: whether commits need not wait for the disk: a crash of the database server may undo the last
            ones, so what they stored must be computed again by itself.
    """

    def __init__(self, url: str, *, pool_size: int = 10, can_lose_commits: bool = False) -> None:
        self._engine = create_async_engine(
            dialect_url(url),
            connect_args=dict(REACHABLE),
            pool_size=pool_size,
            max_overflow=0,
            # A logged error has its statement, but not the parameters, which may be counts or the hash of a key.
            hide_parameters=True,
        )
        event.listen(self._engine.sync_engine, "checkout", _refuse_closed)
        if can_lose_commits:
            event.listen(self._engine.sync_engine, "connect", _commit_soon)
        self._sessions = async_sessionmaker(self._engine, expire_on_commit=False)
        self._connections = asyncio.Semaphore(pool_size)
        self._size = pool_size
        self._in_use = 0
        self._waiting = 0

    @property
    def usage(self) -> PoolUsage:
        """How the pool is used now."""
        return PoolUsage(self._size, self._in_use, self._waiting)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncSession]:
        """A session in a transaction, which is committed when the block ends and rolled back if it raises.

        Raises:
            OverloadedError: too many wait for a connection, or one has waited too long.
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
        """Wait for a free connection, first come, first served; refuse at once what would wait too long."""
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
