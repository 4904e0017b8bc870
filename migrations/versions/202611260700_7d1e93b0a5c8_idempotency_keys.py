"""Requests that are carried out once, by a hash of their idempotency key.

Revises: 2f6b81c4d9ae
"""

import sqlalchemy as sa
from alembic import op

revision = '7d1e93b0a5c8'
down_revision = '2f6b81c4d9ae'
branch_labels = None
depends_on = None


def upgrade() -> None:
    # A migration that waits for a lock must not stop everybody behind it.
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.create_table(
        'idempotency_key',
        sa.Column('name', sa.LargeBinary(), nullable=False),
        sa.Column('fingerprint', sa.LargeBinary(), nullable=False),
        sa.Column('claim', sa.Uuid(), nullable=False),
        sa.Column('answer', sa.LargeBinary(), nullable=True),
        sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('clock_timestamp()'), nullable=False),
        sa.PrimaryKeyConstraint('name', name=op.f('pk_idempotency_key')),
    )
    op.create_index('ix_idempotency_key_created_at', 'idempotency_key', ['created_at'], unique=False)


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.drop_index('ix_idempotency_key_created_at', table_name='idempotency_key')
    op.drop_table('idempotency_key')
