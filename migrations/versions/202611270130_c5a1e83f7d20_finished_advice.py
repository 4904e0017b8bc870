"""An index by which the sweep finds old advice, however much there is.

Revises: 8d2c4f6a1b93
"""

from alembic import op

revision = "c5a1e83f7d20"
down_revision = "8d2c4f6a1b93"
branch_labels = None
depends_on = None
ends_compatibility = False


def upgrade() -> None:
    # Concurrently, it waits for long transactions, but nobody waits for it.
    with op.get_context().autocommit_block():
        op.execute("SET lock_timeout = 0")
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS ix_advice_finished")  # what a try that failed has left
        op.execute(
            "CREATE INDEX CONCURRENTLY ix_advice_finished ON advice (created_at) "
            "WHERE status IN ('succeeded', 'failed')"
        )
        op.execute("SET lock_timeout = '2s'")


def downgrade() -> None:
    op.drop_index("ix_advice_finished", table_name="advice")
