"""Alembic's environment for the catalogue: migrations run online, one at a time."""

from alembic import context
from sqlalchemy import create_engine, text
from sqlalchemy.engine import Connection
from sqlalchemy.schema import SchemaItem

from app.catalog.session import dialect_url
from app.catalog.tables import Base

#: The advisory lock (an arbitrary number) that keeps two processes from migrating at once.
_LOCK = 6_120_901


def is_ours(item: SchemaItem, name: str | None, kind: str, *_: object) -> bool:
    """Whether an item is the catalogue's. Procrastinate's tables have revisions of their own, so Alembic skips them."""
    table = getattr(item, "table", None)
    owner = name if kind == "table" else getattr(table, "name", None)
    return not (owner or "").startswith("procrastinate_")


def migrate(connection: Connection) -> None:
    """Run the requested revisions on `connection`, after any other process that is migrating."""
    context.configure(connection=connection, target_metadata=Base.metadata, include_object=is_ours, compare_type=True)
    with context.begin_transaction():
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        context.run_migrations()


engine = create_engine(dialect_url(context.config.attributes["database_url"]))
with engine.connect() as connection:
    migrate(connection)
engine.dispose()
