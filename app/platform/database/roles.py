"""The two database roles: the owner migrates, the service reads and writes but cannot change the audit log.

The service's role may read the audit log and add to it. It is not the owner, so it can neither change the log's tables
nor disable the trigger that chains the records.
"""

from dataclasses import dataclass
from typing import Final

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb

from app.platform.errors import DatabaseUnavailableError

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


@dataclass(frozen=True, slots=True)
class DatabaseUrls:
    """The database URLs of the owner, who migrates, and of the service; equal if there is one role."""

    owner: str
    service: str


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
