"""Alembic's side of the catalogue: always online, one migration at a time."""

from alembic import context
from sqlalchemy import create_engine, text
from sqlalchemy.engine import Connection
from sqlalchemy.schema import SchemaItem

from app.catalog.session import dialect_url
from app.catalog.tables import Base

#: Any number: the advisory lock that keeps two migrating processes apart.
_LOCK = 6_120_901


def is_ours(item: SchemaItem, name: str | None, kind: str, *_: object) -> bool:
    """Procrastinate's tables come and go with its own revisions; `alembic check` leaves them alone."""
    table = getattr(item, "table", None)
    owner = name if kind == "table" else getattr(table, "name", None)
    return not (owner or "").startswith("procrastinate_")


def migrate(connection: Connection) -> None:
    """Run the wanted revisions on `connection`, waiting for another process that migrates already."""
    context.configure(connection=connection, target_metadata=Base.metadata, include_object=is_ours, compare_type=True)
    with context.begin_transaction():
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        context.run_migrations()


engine = create_engine(dialect_url(context.config.attributes["database_url"]))
with engine.connect() as connection:
    migrate(connection)
engine.dispose()
