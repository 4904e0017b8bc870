"""Indexes for what went through whole tables: old advice, entries with many versions, the newest questions.

Revises: 8d2c4f6a1b93
"""

from alembic import op

revision = "c5a1e83f7d20"
down_revision = "8d2c4f6a1b93"
branch_labels = None
depends_on = None
ends_compatibility = False

_INDEXES = {
    "ix_advice_finished": "advice (created_at) WHERE status IN ('succeeded', 'failed')",
    "ix_entry_latest_version": "entry (latest_version)",
    "ix_question_created_at_id": "question (created_at, id)",
}


def upgrade() -> None:
    # Concurrently, they wait for long transactions, but nobody waits for them.
    with op.get_context().autocommit_block():
        op.execute("SET lock_timeout = 0")
        for name, place in _INDEXES.items():
            op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")  # what a try that failed has left
            op.execute(f"CREATE INDEX CONCURRENTLY {name} ON {place}")
        op.execute("SET lock_timeout = '2s'")


def downgrade() -> None:
    for name in _INDEXES:
        op.execute(f"DROP INDEX {name}")
