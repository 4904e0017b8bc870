"""The catalogue's migrations, which run beside a service that goes on."""

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

#: How often a migration is tried that cannot have a table to itself, and seconds between two tries, in which those who
#: queued up behind it go on.
TRIES: Final = 20
PAUSE: Final = 3.0

#: Seconds for which a server that still starts is waited for, and between two looks.
STARTING: Final = 60.0
LOOK: Final = 0.5


def upgrade(urls: DatabaseUrls) -> None:
    """Bring the database to the newest revision, if it is not there yet, and let the service's role use it.

    Leaves a database alone that a newer version has migrated, if this one works with it.

    Raises:
        DatabaseUnavailableError: the database cannot be reached, is too busy, or has no role for the service and none
            can be created.
        SchemaMismatchError: a newer version has migrated it, and this one does not work with it any more.
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
                "The database must be migrated, but not by this role: set AEGIS_OWNER_DATABASE_URL to its owner's URL."
            ) from None


def wait_for_server(url: str) -> None:
    """Wait until the server takes connections, or for a minute; what is wrong then, or cannot pass, `upgrade` says."""
    deadline, is_told = time.monotonic() + STARTING, False
    while True:
        try:
            return psycopg.connect(url, **REACHABLE).close()
        except psycopg.OperationalError as error:  # whatever it is: how a server starts is told in words alone
            if time.monotonic() >= deadline:
                return None
            if not is_told:
                _log.warning("waiting for the database", seconds=STARTING, reason=str(error).partition("\n")[0])
                is_told = True
        except psycopg.Error:  # no URL
            return None
        time.sleep(LOOK)


def _upgrade(url: str) -> None:
    """Run what is missing. Each revision is committed, so that a new try goes on where the last one gave up.

    Raises:
        DatabaseUnavailableError: other transactions have not left a table to it, at any try.
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
        "The database could not be migrated: long transactions use its tables. Let them end, and try again."
    )


def wait(url: str, seconds: float) -> None:
    """Wait until another process has migrated the database, so many seconds at most.

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
    """Write a revision file from the difference between the tables and the database.

    Raises:
        OperatorError: the revisions are those of an installed package.
    """
    if not is_checkout():
        raise OperatorError(
            "Revisions are drafted in a checkout, and this is an installed package: run `make migration`"
        )
    command.revision(configuration(database_url), message, autogenerate=True)
