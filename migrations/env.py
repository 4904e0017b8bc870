"""Alembic's environment for the catalogue: migrations run online, one at a time."""

from alembic import context
from sqlalchemy import create_engine, text
from sqlalchemy.engine import Connection
from sqlalchemy.pool import NullPool
from sqlalchemy.schema import SchemaItem

from app.catalog.roles import MIGRATION_LOCK
from app.catalog.session import dialect_url
from app.catalog.tables import Base


def is_ours(item: SchemaItem, name: str | None, kind: str, *_: object) -> bool:
    """Whether an item is the catalogue's. Procrastinate's tables have revisions of their own, so Alembic skips them."""
    table = getattr(item, "table", None)
    owner = name if kind == "table" else getattr(table, "name", None)
    return not (owner or "").startswith("procrastinate_")


def migrate(connection: Connection) -> None:
    """Run the requested revisions on `connection`, after any other process that is migrating.

    Each has a transaction of its own, so that the locks of one are not held while the next works.
    """
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        include_object=is_ours,
        compare_type=True,
        transaction_per_migration=True,
    )
    connection.execute(text("SELECT pg_advisory_lock(:lock)"), {"lock": MIGRATION_LOCK})
    connection.commit()
    try:
        with context.begin_transaction():
            context.run_migrations()
    finally:
        connection.rollback()
        connection.execute(text("SELECT pg_advisory_unlock(:lock)"), {"lock": MIGRATION_LOCK})
        connection.commit()


engine = create_engine(dialect_url(context.config.attributes["database_url"]), poolclass=NullPool)
with engine.connect() as connection:
    migrate(connection)
