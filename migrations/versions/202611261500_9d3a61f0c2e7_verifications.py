"""Verifications: what consumers find out about delivered tables, and the states in which that ends.

Revises: a5d20c8f1e73
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '9d3a61f0c2e7'
down_revision = 'a5d20c8f1e73'
branch_labels = None
depends_on = None

_BEFORE = (
    'requested', 'advised', 'countered', 'approved', 'delivered', 'failed', 'declined', 'withdrawn', 'expired',
    'ended',
)
_STATES = (*_BEFORE[:5], 'received', 'disputed', *_BEFORE[5:])


def upgrade() -> None:
    # A migration that waits for a lock must not stop everybody behind it.
    op.execute("SET LOCAL lock_timeout = '5s'")
    _may_be(_STATES)
    op.create_table(
        'verification',
        sa.Column('request_id', sa.Uuid(), nullable=False),
        sa.Column('sha256', sa.Text(), nullable=False),
        sa.Column('size', sa.BigInteger(), nullable=False),
        sa.Column('records', sa.BigInteger(), nullable=True),
        sa.Column('measured', postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column('cells_compared', sa.BigInteger(), nullable=False),
        sa.Column('cells_differing', sa.BigInteger(), nullable=False),
        sa.Column('differences', postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column('verified_at', sa.DateTime(timezone=True), server_default=sa.text('clock_timestamp()'), nullable=False),
        sa.ForeignKeyConstraint(['request_id'], ['data_request.id'], name=op.f('fk_verification_request_id'), ondelete='CASCADE'),
        sa.PrimaryKeyConstraint('request_id', name=op.f('pk_verification')),
    )


def downgrade() -> None:
    op.drop_table('verification')
    # What ended in one of these states has ended all the same.
    for table in ('data_request', 'data_request_change'):
        op.execute(f"UPDATE {table} SET state = 'ended' WHERE state IN ('received', 'disputed')")
    _may_be(_BEFORE)


def _may_be(states: tuple[str, ...]) -> None:
    op.drop_constraint(op.f('ck_data_request_state'), 'data_request')
    op.create_check_constraint(op.f('ck_data_request_state'), 'data_request', f'state IN {states}')
