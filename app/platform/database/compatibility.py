"""Whether this version of the service works with the schema that the database has.

While a service is upgraded, versions run side by side on one schema. The database has a list of the revisions whose
versions work with it: a migration adds its own and keeps those before it, unless it takes away what they need.
"""

from collections.abc import Collection

import psycopg

from app.platform.database.revisions import known_revisions, newest_revision
from app.platform.database.session import REACHABLE
from app.platform.errors import DatabaseUnavailableError, SchemaMismatchError

#: The list, and the revision that the database has.
SCHEMA = "SELECT array(SELECT revision FROM compatible_revision), (SELECT version_num FROM alembic_version)"

BEHIND = "The database's schema is older than this version of the service: run `aegis-server migrate` of this version."
AHEAD = (
    "A newer version has changed this database so that this one does not work with it any more: install the newer "
    "version, or restore the backup from before."
)


def mismatch(compatible: Collection[str], revision: str | None) -> str | None:
    """Why this version does not work with a schema, and what helps; None if it works.

    Args:
        compatible: the list of the database.
        revision: the one that it has; None if it has none.
    """
    if newest_revision() in compatible:
        return None
    return BEHIND if revision is None or revision in known_revisions() else AHEAD


def refuse_mismatch(url: str) -> None:
    """Look whether this version works with a database.

    Raises:
        SchemaMismatchError: it does not.
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
