"""Counts of pairs of masked attributes, with those of each version in one row.

Revises: 3c7a9b10f2de
"""

from alembic import op
revision = '6d20e4c81f95'
down_revision = '3c7a9b10f2de'
branch_labels = None
depends_on = None

BEFORE = "kind IN ('label_histogram', 'histogram', 'joint', 'masked_joint')"
AFTER = "kind IN ('label_histogram', 'histogram', 'joint', 'masked_joint', 'pairs')"


def upgrade() -> None:
    # A migration that waits for a lock must not block all queries behind it.
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.drop_constraint(op.f('ck_count_table_kind'), 'count_table', type_='check')
    op.create_check_constraint(op.f('ck_count_table_kind'), 'count_table', AFTER)


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    # Without pair counts, an entry could not be returned as published: delete such entries before this downgrade.
    op.drop_constraint(op.f('ck_count_table_kind'), 'count_table', type_='check')
    op.create_check_constraint(op.f('ck_count_table_kind'), 'count_table', BEFORE)
