"""Alembic's environment for the catalogue: migrations run online, one at a time."""

import time

from alembic import context
from alembic.runtime.migration import MigrationContext, MigrationInfo
from sqlalchemy import create_engine, text
from sqlalchemy.engine import Connection
from sqlalchemy.pool import NullPool
from sqlalchemy.schema import SchemaItem

from app.platform.database.migrations import MIGRATION_LOCK
from app.platform.database.session import dialect_url
from app.tables import Base

# Whoever waits for a lock of a table blocks everybody who comes later. So a migration soon gives up, and tries again.
LOCK_TIMEOUT = "SET lock_timeout = '2s'"


def is_ours(item: SchemaItem, name: str | None, kind: str, *_: object) -> bool:
    """Whether an item is the catalogue's. Procrastinate's tables have revisions of their own, so Alembic skips them."""
    table = getattr(item, "table", None)
    owner = name if kind == "table" else getattr(table, "name", None)
    return not (owner or "").startswith("procrastinate_")


def note_compatibility(*, ctx: MigrationContext, step: MigrationInfo, **_: object) -> None:
    """Note whose code works with the schema as a revision leaves it (`app/platform/database/migrations.py`)."""
    connection = ctx.connection
    if connection is None or connection.scalar(text("SELECT to_regclass('compatible_revision') IS NULL")):
        return
    revision, before = step.up_revision_id, next(iter(step.down_revision_ids), None)
    script = step.revision_map.get_revision(revision)
    if step.is_upgrade and getattr(getattr(script, "module", None), "ends_compatibility", False):
        connection.execute(text("DELETE FROM compatible_revision"))
    if not step.is_upgrade:
        connection.execute(text("DELETE FROM compatible_revision WHERE revision = :it"), {"it": revision})
    noted = {"it": revision if step.is_upgrade else before}
    connection.execute(text("INSERT INTO compatible_revision VALUES (:it) ON CONFLICT DO NOTHING"), noted)


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
        on_version_apply=note_compatibility,
    )
    # Whoever waited within a statement would hold up indexes that the other builds concurrently, for ever.
    while not connection.scalar(text("SELECT pg_try_advisory_lock(:lock)"), {"lock": MIGRATION_LOCK}):
        connection.rollback()
        time.sleep(0.1)
    connection.execute(text(LOCK_TIMEOUT))
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
