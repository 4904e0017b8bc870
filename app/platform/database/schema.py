"""The revisions of the schema, and whether this version of the service works with the database's.

During an upgrade, versions run side by side on one schema. The database lists the revisions whose versions work with
it: a migration adds its own revision, and removes older ones if it takes away what they need.
"""

from collections.abc import Collection
from functools import cache
from pathlib import Path

import psycopg
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import text

from app.platform.database.base import Store
from app.platform.database.session import REACHABLE
from app.platform.errors import DatabaseUnavailableError, SchemaMismatchError

_HERE = Path(__file__).resolve()
#: In a wheel, the revisions are inside the package; in a checkout, in the root directory.
_LOCATIONS = (_HERE.parents[2] / "migrations", _HERE.parents[3] / "migrations")


def is_checkout() -> bool:
    """Whether this is a checkout, to which revisions can be added."""
    return not _LOCATIONS[0].is_dir()


def configuration(database_url: str) -> Config:
    """Alembic's configuration for a database."""
    config = Config(_HERE.parents[3] / "alembic.ini")
    config.set_main_option("script_location", str(next(place for place in _LOCATIONS if place.is_dir())))
    config.attributes["database_url"] = database_url
    return config


@cache
def newest_revision() -> str | None:
    """The revision that this version of the service works with."""
    return ScriptDirectory.from_config(configuration("")).get_current_head()


@cache
def known_revisions() -> frozenset[str]:
    """All revisions that this version of the service knows."""
    script = ScriptDirectory.from_config(configuration(""))
    return frozenset(one.revision for one in script.walk_revisions())


#: The compatible revisions, and the database's own.
SCHEMA = "SELECT array(SELECT revision FROM compatible_revision), (SELECT version_num FROM alembic_version)"

BEHIND = "The database's schema is older than this version of the service: run `aegis-server migrate` of this version."
AHEAD = (
    "A newer version has changed this database, and this one no longer works with it: install the newer "
    "version, or restore the backup from before."
)


def mismatch(compatible: Collection[str], revision: str | None) -> str | None:
    """Why this version does not work with a schema, and the remedy; None if it works.

    Args:
        compatible: the compatible revisions that the database lists.
        revision: the database's own; None if it has none.
    """
    if newest_revision() in compatible:
        return None
    return BEHIND if revision is None or revision in known_revisions() else AHEAD


def refuse_mismatch(url: str) -> None:
    """Refuse a database that this version does not work with.

    Raises:
        SchemaMismatchError: this version does not work with it.
        DatabaseUnavailableError: the database cannot be reached.
    """
    try:
        with psycopg.connect(url, **REACHABLE) as connection:
            row = connection.execute(SCHEMA).fetchone()
    except (psycopg.errors.UndefinedTable, psycopg.errors.InsufficientPrivilege):  # neither made nor granted yet
        raise SchemaMismatchError(BEHIND) from None
    except psycopg.OperationalError:
        raise DatabaseUnavailableError("The catalogue's database cannot be reached.") from None
    reason = mismatch(*row) if row else BEHIND
    if reason is not None:
        raise SchemaMismatchError(reason)


_SCHEMA = text(SCHEMA)
_REVISION = text("SELECT version_num FROM alembic_version")


class SchemaStore(Store):
    """The schema of the database."""

    async def revision(self) -> str | None:
        """The database's revision."""
        return (await self._session.execute(_REVISION)).scalar()

    async def mismatch(self) -> str | None:
        """Why this version of the service does not work with the schema; None if it does."""
        compatible, revision = (await self._session.execute(_SCHEMA)).one()
        return mismatch(compatible, revision)
