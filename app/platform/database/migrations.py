"""The catalogue's migrations, which run while a service is in use."""

import time
from typing import Final

import psycopg
import structlog
from alembic import command
from alembic.script.revision import ResolutionError
from alembic.util import CommandError
from sqlalchemy.exc import OperationalError, ProgrammingError

from app.platform.database.roles import DatabaseUrls, grant
from app.platform.database.schema import configuration, is_checkout, refuse_mismatch
from app.platform.database.session import REACHABLE, clear_errors
from app.platform.errors import DatabaseUnavailableError, OperatorError, SchemaMismatchError

_log = structlog.get_logger(__name__)

#: Attempts of a migration that cannot lock a table, and seconds between them, in which the transactions queued behind
#: it proceed.
TRIES: Final = 20
PAUSE: Final = 3.0

#: Seconds to wait for a starting server, and between two attempts.
STARTING: Final = 60.0
LOOK: Final = 0.5


def upgrade(urls: DatabaseUrls) -> None:
    """Bring the database to the newest revision, and grant the service's role its rights.

    Changes nothing if a newer version has migrated the database and this one works with it.

    Raises:
        DatabaseUnavailableError: the database cannot be reached, is too busy, or has no role for the service and none
            can be created.
        SchemaMismatchError: a newer version has migrated it, and this one no longer works with it.
    """
    with clear_errors():
        try:
            _upgrade(urls.owner)
            grant(urls)
        except CommandError as error:
            if not isinstance(error.__cause__, ResolutionError):
                raise
            refuse_mismatch(urls.service)
        except ProgrammingError as error:
            if not isinstance(error.orig, psycopg.errors.InsufficientPrivilege):
                raise
            raise DatabaseUnavailableError(
                "The database must be migrated by its owner: set AEGIS_OWNER_DATABASE_URL to the owner's URL."
            ) from None


def wait_for_server(url: str) -> None:
    """Wait until the server accepts connections, a minute at most. Other errors are left to `upgrade`."""
    deadline, is_told = time.monotonic() + STARTING, False
    while True:
        try:
            return psycopg.connect(url, **REACHABLE).close()
        except psycopg.OperationalError as error:  # only the text says that a server is starting
            if time.monotonic() >= deadline:
                return None
            if not is_told:
                _log.warning("waiting for the database", seconds=STARTING, reason=str(error).partition("\n")[0])
                is_told = True
        except psycopg.Error:  # not a URL
            return None
        time.sleep(LOOK)


def _upgrade(url: str) -> None:
    """Run the missing revisions. Each is committed, so that another attempt continues where the last one gave up.

    Raises:
        DatabaseUnavailableError: other transactions kept a table locked during all attempts.
    """
    for left in reversed(range(TRIES)):
        try:
            command.upgrade(configuration(url), "head")
        except OperationalError as error:
            if not isinstance(error.orig, psycopg.errors.LockNotAvailable):
                raise
            _log.warning("migration waits for long transactions to end", tries_left=left)
            time.sleep(PAUSE if left else 0)
        else:
            return
    raise DatabaseUnavailableError(
        "The database could not be migrated: long transactions lock its tables. Wait for their end and try again."
    )


def wait(url: str, seconds: float) -> None:
    """Wait until another process has migrated the database, at most `seconds`.

    Raises:
        DatabaseUnavailableError: the database cannot be reached.
        SchemaMismatchError: this version does not work with it.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            return refuse_mismatch(url)
        except (DatabaseUnavailableError, SchemaMismatchError):
            if time.monotonic() >= deadline:
                raise
        time.sleep(min(1.0, seconds))


def draft(database_url: str, message: str) -> None:
    """Write a revision from the difference between the tables and the database.

    Raises:
        OperatorError: this is an installed package, not a checkout.
    """
    if not is_checkout():
        raise OperatorError(
            "Revisions are drafted in a checkout, and this is an installed package: run `make migration`"
        )
    command.revision(configuration(database_url), message, autogenerate=True)
