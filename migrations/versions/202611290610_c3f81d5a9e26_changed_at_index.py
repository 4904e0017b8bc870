"""The index by which listings find what has changed.

Revises: 9b2e6f0c7a41
"""

from alembic import op

revision = "c3f81d5a9e26"
down_revision = "9b2e6f0c7a41"
branch_labels = None
depends_on = None
ends_compatibility = False


def upgrade() -> None:
    # Concurrently, it waits for long transactions, but nobody waits for it.
    with op.get_context().autocommit_block():
        op.execute("SET lock_timeout = 0")
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS ix_entry_changed_at_id")  # what a try that failed has left
        op.execute("CREATE INDEX CONCURRENTLY ix_entry_changed_at_id ON entry (changed_at, id)")
        op.execute("SET lock_timeout = '2s'")


def downgrade() -> None:
    op.execute("DROP INDEX ix_entry_changed_at_id")
