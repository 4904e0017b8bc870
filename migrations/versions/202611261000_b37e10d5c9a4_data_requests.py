"""Requests for data with their history, and the terms of entries that have a policy.

Revises: a90c4be217d3
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = 'b37e10d5c9a4'
down_revision = 'a90c4be217d3'
branch_labels = None
depends_on = None

_STATES = (
    'requested', 'advised', 'countered', 'approved', 'delivered', 'failed', 'declined', 'withdrawn', 'expired',
    'ended',
)


def upgrade() -> None:
    # A migration that waits for a lock must not stop everybody behind it.
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.add_column('entry_version', sa.Column('terms', sa.Text(), nullable=True))
    op.create_table(
        'data_request',
        sa.Column('id', sa.Uuid(), nullable=False),
        sa.Column('entry_id', sa.Uuid(), nullable=False),
        sa.Column('entry_name', sa.Text(), nullable=False),
        sa.Column('version', sa.Integer(), nullable=False),
        sa.Column('version_id', sa.Integer(), nullable=True),
        sa.Column('digest', sa.Text(), nullable=False),
        sa.Column('keyed_digest', sa.Text(), nullable=False),
        sa.Column('provider_id', sa.Integer(), nullable=False),
        sa.Column('consumer_id', sa.Integer(), nullable=False),
        sa.Column('question', postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column('question_id', sa.Uuid(), nullable=True),
        sa.Column('advice_id', sa.Uuid(), nullable=True),
        sa.Column('is_coarse', sa.Boolean(), nullable=False),
        sa.Column('purpose', sa.Text(), nullable=False),
        sa.Column('contact', sa.Text(), nullable=True),
        sa.Column('terms', sa.Text(), nullable=False),
        sa.Column('state', sa.Text(), nullable=False),
        sa.Column('configuration', sa.Text(), nullable=True),
        sa.Column('cost', postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column('problem', postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('clock_timestamp()'), nullable=False),
        sa.Column('changed_at', sa.DateTime(timezone=True), server_default=sa.text('clock_timestamp()'), nullable=False),
        sa.CheckConstraint(f'state IN {_STATES}', name=op.f('ck_data_request_state')),
        sa.ForeignKeyConstraint(['version_id'], ['entry_version.id'], name=op.f('fk_data_request_version_id'), ondelete='SET NULL'),
        sa.ForeignKeyConstraint(['provider_id'], ['tenant.id'], name=op.f('fk_data_request_provider_id')),
        sa.ForeignKeyConstraint(['consumer_id'], ['tenant.id'], name=op.f('fk_data_request_consumer_id')),
        sa.ForeignKeyConstraint(['question_id'], ['question.id'], name=op.f('fk_data_request_question_id'), ondelete='SET NULL'),
        sa.ForeignKeyConstraint(['advice_id'], ['advice.id'], name=op.f('fk_data_request_advice_id'), ondelete='SET NULL'),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_data_request')),
    )
    for column in ('entry_id', 'version_id', 'question_id', 'advice_id'):
        op.create_index(op.f(f'ix_data_request_{column}'), 'data_request', [column])
    op.create_index('ix_data_request_consumer_id_created_at', 'data_request', ['consumer_id', 'created_at'])
    op.create_index('ix_data_request_provider_id_created_at', 'data_request', ['provider_id', 'created_at'])
    op.create_index('ix_data_request_created_at_id', 'data_request', ['created_at', 'id'])
    op.create_index('ix_data_request_requested', 'data_request', ['advice_id'], postgresql_where=sa.text("state = 'requested'"))
    op.create_index('ix_data_request_open', 'data_request', ['changed_at'], postgresql_where=sa.text(f'state IN {_STATES[:5]}'))
    op.create_table(
        'data_request_change',
        sa.Column('id', sa.BigInteger(), nullable=False),
        sa.Column('request_id', sa.Uuid(), nullable=False),
        sa.Column('at', sa.DateTime(timezone=True), server_default=sa.text('clock_timestamp()'), nullable=False),
        sa.Column('action', sa.Text(), nullable=False),
        sa.Column('state', sa.Text(), nullable=False),
        sa.Column('side', sa.Text(), nullable=False),
        sa.Column('tenant', sa.Text(), nullable=True),
        sa.Column('subject', sa.Text(), nullable=True),
        sa.Column('reason', sa.Text(), nullable=True),
        sa.Column('configuration', sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(['request_id'], ['data_request.id'], name=op.f('fk_data_request_change_request_id'), ondelete='CASCADE'),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_data_request_change')),
    )
    op.create_index(op.f('ix_data_request_change_request_id'), 'data_request_change', ['request_id'])


def downgrade() -> None:
    op.drop_table('data_request_change')
    op.drop_table('data_request')
    op.drop_column('entry_version', 'terms')
