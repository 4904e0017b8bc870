"""Indexes for what went through whole tables: old advice, entries with many versions, the newest questions.

They are not made CONCURRENTLY: that would wait for another process that waits for this migration to end. Each takes a
second or two for a million rows.

Revises: 4e9c7a2d5b18
"""

from alembic import op

revision = "5d2f8a61c09b"
down_revision = "4e9c7a2d5b18"
branch_labels = None
depends_on = None

_INDEXES = {
    "ix_advice_finished_created_at": "advice (created_at) WHERE status IN ('succeeded', 'failed')",
    "ix_entry_latest_version": "entry (latest_version)",
    "ix_question_created_at_id": "question (created_at, id)",
}


def upgrade() -> None:
    with op.get_context().autocommit_block():
        # A migration that waits for a lock must not stop everybody behind it.
        op.execute("SET lock_timeout = '5s'")
        for name, place in _INDEXES.items():
            op.execute(f"CREATE INDEX IF NOT EXISTS {name} ON {place}")
        op.execute("RESET lock_timeout")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    for name in _INDEXES:
        op.execute(f"DROP INDEX {name}")
