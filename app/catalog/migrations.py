"""The catalogue's migrations, run from the installed package as well as from a checkout."""

from functools import cache
from pathlib import Path

import psycopg
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.script.revision import ResolutionError
from alembic.util import CommandError
from sqlalchemy.exc import ProgrammingError

from app.catalog.roles import DatabaseUrls, grant
from app.catalog.session import clear_errors
from app.domain.errors import DatabaseUnavailableError

_HERE = Path(__file__).resolve()
#: A wheel has the revisions inside the package; a checkout has them in its root directory.
_LOCATIONS = (_HERE.parents[1] / "migrations", _HERE.parents[2] / "migrations")


def configuration(database_url: str) -> Config:
    """Alembic's configuration for one database."""
    config = Config(_HERE.parents[2] / "alembic.ini")
    config.set_main_option("script_location", str(next(place for place in _LOCATIONS if place.is_dir())))
    config.attributes["database_url"] = database_url
    return config


def upgrade(urls: DatabaseUrls) -> None:
    """Bring the database to the newest revision, if it is not there yet, and let the service's role use it.

    Raises:
        DatabaseUnavailableError: the database cannot be reached, belongs to a newer version, or has no role for the
            service and none can be created.
    """
    with clear_errors():
        try:
            command.upgrade(configuration(urls.owner), "head")
            grant(urls)
        except CommandError as error:
            if not isinstance(error.__cause__, ResolutionError):
                raise
            raise DatabaseUnavailableError(
                "A newer version has migrated this database: install that version, or restore the backup from before."
            ) from None
        except ProgrammingError as error:
            if not isinstance(error.orig, psycopg.errors.InsufficientPrivilege):
                raise
            raise DatabaseUnavailableError(
                "The database must be migrated, but not by this role: set AEGIS_OWNER_DATABASE_URL to its owner's URL."
            ) from None


@cache
def newest_revision() -> str | None:
    """The revision that this version of the service works with."""
    return ScriptDirectory.from_config(configuration("")).get_current_head()


def draft(database_url: str, message: str) -> None:
    """Write a revision file from the difference between the tables and the database."""
    command.revision(configuration(database_url), message, autogenerate=True)
