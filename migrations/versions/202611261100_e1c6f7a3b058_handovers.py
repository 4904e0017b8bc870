"""Handovers: what providers say of the tables that they deliver for data requests.

Revises: b37e10d5c9a4
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = 'e1c6f7a3b058'
down_revision = 'b37e10d5c9a4'
branch_labels = None
depends_on = None


def upgrade() -> None:
    # A migration that waits for a lock must not stop everybody behind it.
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.create_table(
        'handover',
        sa.Column('request_id', sa.Uuid(), nullable=False),
        sa.Column('url', sa.Text(), nullable=False),
        sa.Column('expires_at', sa.DateTime(timezone=True), nullable=True),
        sa.Column('media_type', sa.Text(), nullable=False),
        sa.Column('size', sa.BigInteger(), nullable=False),
        sa.Column('sha256', sa.Text(), nullable=False),
        sa.Column('records', sa.BigInteger(), nullable=False),
        sa.Column('configuration', sa.Text(), nullable=False),
        sa.Column('reached', postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column('card', sa.LargeBinary(), nullable=True),
        sa.Column('delivered_at', sa.DateTime(timezone=True), server_default=sa.text('clock_timestamp()'), nullable=False),
        sa.ForeignKeyConstraint(['request_id'], ['data_request.id'], name=op.f('fk_handover_request_id'), ondelete='CASCADE'),
        sa.PrimaryKeyConstraint('request_id', name=op.f('pk_handover')),
    )


def downgrade() -> None:
    op.drop_table('handover')
