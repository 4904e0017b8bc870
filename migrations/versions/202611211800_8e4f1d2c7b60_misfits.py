"""Misfits of references: how far the counts of each view are from those that the reference implies.

Revises: 5b1c0a7e9d44
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql
revision = '8e4f1d2c7b60'
down_revision = '5b1c0a7e9d44'
branch_labels = None
depends_on = None


def upgrade() -> None:
    # A migration that waits for a lock must not block all queries behind it.
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.add_column('reference', sa.Column('misfits', postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False))


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.drop_column('reference', 'misfits')
