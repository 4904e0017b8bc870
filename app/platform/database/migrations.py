"""The migrations of the catalogue, which run while a service is in use, the revisions that work with it, and the roles.

During an upgrade, versions run side by side on one schema. The database lists the revisions whose versions work with
it: a migration adds its own revision, and removes older ones if it takes away what they need.

The owner migrates. The service's role may read the audit log and add to it. It is not the owner, so it can neither
change the log's tables nor disable the trigger that chains the records.
"""

import time
from collections.abc import Collection
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

import psycopg
import structlog
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.script.revision import ResolutionError
from alembic.util import CommandError
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb
from sqlalchemy import text
from sqlalchemy.exc import OperationalError, ProgrammingError

from app.platform.database.base import Store
from app.platform.database.session import REACHABLE, clear_errors
from app.platform.errors import DatabaseUnavailableError, OperatorError, SchemaMismatchError
from app.settings import DatabaseUrls

_log = structlog.get_logger(__name__)

#: The oldest major version of PostgreSQL that is supported: tests run on it, and on that of the embedded server.
OLDEST_SERVER: Final = 15

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
        OperatorError: the server is too old.
        SchemaMismatchError: a newer version has migrated it, and this one no longer works with it.
    """
    refuse_old_server(urls.owner)
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


def refuse_old_server(url: str) -> None:
    """Refuse a server that is too old. Whether there is one is left to what comes next.

    Raises:
        OperatorError: it is older than the oldest version that is supported.
    """
    with suppress(psycopg.Error), psycopg.connect(url, **REACHABLE) as connection:
        major, minor = divmod(connection.info.server_version, 10_000)
        if major < OLDEST_SERVER:
            raise OperatorError(
                f"The server is PostgreSQL {major}.{minor}, and the oldest that Aegis works with is {OLDEST_SERVER}: "
                "upgrade the server first."
            )


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
    """Run the missing revisions. Each is committed, so that another attempt continues where the last one gave up."""
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
        OperatorError: the server is too old.
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
    if _LOCATIONS[0].is_dir():
        raise OperatorError(
            "Revisions are drafted in a checkout, and this is an installed package: run `make migration`"
        )
    command.revision(configuration(database_url), message, autogenerate=True)


_HERE = Path(__file__).resolve()
#: In a wheel, the revisions are inside the package; in a checkout, in the root directory.
_LOCATIONS = (_HERE.parents[2] / "migrations", _HERE.parents[3] / "migrations")


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
    """Why this version does not work with a schema, and the remedy; None if it works."""
    if newest_revision() in compatible:
        return None
    return BEHIND if revision is None or revision in known_revisions() else AHEAD


def refuse_mismatch(url: str) -> None:
    """Refuse a database that this version does not work with.

    Raises:
        SchemaMismatchError: this version does not work with it.
        DatabaseUnavailableError: the database cannot be reached.
        OperatorError: the server is too old.
    """
    refuse_old_server(url)
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


#: The advisory lock (an arbitrary number) for migrations and grants.
MIGRATION_LOCK: Final = 6_120_901

#: The columns that the service's role may set in a new row. The database sets the others: id, time, salt and place in
#: the chain.
_ADDED: Final = {
    "audit_record": (
        *("action", "tenant", "subject", "side", "entry_id", "version", "digest", "terms", "request_id", "state"),
        *("configuration", "file_sha256", "target", "value"),
    ),
    "audit_link": (),
    "audit_head": ("sequence", "key_id", "signed_at", "jws"),
    "audit_key": ("id", "public_key"),
    "alembic_version": (),
    "compatible_revision": (),
}

#: Whether the role has its rights, and no others by which it could change the log: on tables, on the columns of
#: append-only ones, and on sequences.
_IS_GRANTED = """
SELECT has_schema_privilege(%(role)s, current_schema(), 'USAGE') AND NOT EXISTS (
    SELECT FROM pg_class, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER']) AS one
    WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND CASE
        WHEN one = 'SELECT' THEN NOT has_table_privilege(%(role)s, pg_class.oid, one)
        WHEN %(added)s::jsonb ? relname THEN has_table_privilege(%(role)s, pg_class.oid, one)
        ELSE one NOT IN ('TRUNCATE', 'TRIGGER') AND NOT has_table_privilege(%(role)s, pg_class.oid, one)
    END
) AND NOT EXISTS (
    SELECT FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
    WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND attnum > 0 AND NOT attisdropped
        AND %(added)s::jsonb ? relname AND (
            has_column_privilege(%(role)s, attrelid, attnum, 'UPDATE')
            OR has_column_privilege(%(role)s, attrelid, attnum, 'INSERT') <> (%(added)s::jsonb -> relname ? attname)
        )
) AND NOT EXISTS (
    SELECT FROM pg_sequence JOIN pg_class ON pg_class.oid = seqrelid
    WHERE relnamespace = current_schema()::regnamespace AND (
        NOT has_sequence_privilege(%(role)s, seqrelid, 'USAGE') OR has_sequence_privilege(%(role)s, seqrelid, 'UPDATE')
    )
)
"""
_GRANTS = """
GRANT USAGE ON SCHEMA {schema} TO {role};
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role};
REVOKE UPDATE ON ALL SEQUENCES IN SCHEMA {schema} FROM {role};
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA {schema} TO {role}
"""
_READ_ONLY = "REVOKE INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER ON {table} FROM {role}"
_ADD = "GRANT INSERT ({columns}) ON {table} TO {role}"


def grant(urls: DatabaseUrls) -> None:
    """Grant the service's role exactly the rights it needs; create the role if it is missing.

    Does nothing if both roles are the same, or if the service's role has its rights already.

    Raises:
        DatabaseUnavailableError: the role is missing, and the owner may not create it.
    """
    service = conninfo_to_dict(urls.service)
    role = service.get("user")
    with psycopg.connect(urls.owner) as connection:
        if role is None or role == connection.info.user:
            return
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [MIGRATION_LOCK])
        if connection.execute("SELECT FROM pg_roles WHERE rolname = %s", [role]).rowcount == 0:
            _create(connection, str(role), service.get("password"))
        if connection.execute(_IS_GRANTED, {"role": role, "added": Jsonb(_ADDED)}).fetchone() != (True,):
            _grant(connection, sql.Identifier(str(role)))


def _create(connection: psycopg.Connection[TupleRow], role: str, password: object) -> None:
    """Create the role, with the password of its URL if there is one; only its hash is sent to the server."""
    statement = sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(role))
    if password is not None:
        hashed = connection.pgconn.encrypt_password(str(password).encode(), role.encode(), b"scram-sha-256")
        statement += sql.SQL(" PASSWORD {}").format(sql.Literal(hashed.decode()))
    try:
        connection.execute(statement)
    except psycopg.errors.InsufficientPrivilege:
        raise DatabaseUnavailableError(
            f"The role {role} does not exist, and {connection.info.user} may not create it: ask an administrator of "
            "the database to do so."
        ) from None


def _grant(connection: psycopg.Connection[TupleRow], role: sql.Identifier) -> None:
    row = connection.execute("SELECT current_schema()").fetchone()
    schema = sql.Identifier(row[0] if row else "public")
    connection.execute(sql.SQL(_GRANTS).format(schema=schema, role=role))
    for table, columns in _ADDED.items():
        named = sql.Identifier(table)
        connection.execute(sql.SQL(_READ_ONLY).format(table=named, role=role))
        if columns:
            listed = sql.SQL(", ").join(map(sql.Identifier, columns))
            connection.execute(sql.SQL(_ADD).format(columns=listed, table=named, role=role))
