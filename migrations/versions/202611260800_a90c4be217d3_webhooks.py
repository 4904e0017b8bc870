"""Webhooks, and the events that wait to be delivered to them.

Revises: d40b7a95e612
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = 'a90c4be217d3'
down_revision = 'd40b7a95e612'
branch_labels = None
depends_on = None


def upgrade() -> None:
    # A migration that waits for a lock must not stop everybody behind it.
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.create_table(
        'webhook',
        sa.Column('id', sa.Uuid(), nullable=False),
        sa.Column('tenant_id', sa.Integer(), nullable=False),
        sa.Column('url', sa.Text(), nullable=False),
        sa.Column('event_types', postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column('secret', sa.LargeBinary(), nullable=False),
        sa.Column('previous_secret', sa.LargeBinary(), nullable=True),
        sa.Column('previous_secret_until', sa.DateTime(timezone=True), nullable=True),
        sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('clock_timestamp()'), nullable=False),
        sa.Column('created_by', sa.Text(), nullable=True),
        sa.Column('disabled_at', sa.DateTime(timezone=True), nullable=True),
        sa.Column('disabled_reason', sa.Text(), nullable=True),
        sa.Column('failing_since', sa.DateTime(timezone=True), nullable=True),
        sa.Column('failures', sa.Integer(), server_default=sa.text('0'), nullable=False),
        sa.Column('retry_at', sa.DateTime(timezone=True), nullable=True),
        sa.Column('claimed_until', sa.DateTime(timezone=True), nullable=True),
        sa.Column('last_attempt_at', sa.DateTime(timezone=True), nullable=True),
        sa.Column('last_status', sa.Integer(), nullable=True),
        sa.Column('last_error', sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(['tenant_id'], ['tenant.id'], name=op.f('fk_webhook_tenant_id')),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_webhook')),
    )
    op.create_index(op.f('ix_webhook_tenant_id'), 'webhook', ['tenant_id'])
    op.create_table(
        'delivery',
        sa.Column('id', sa.Uuid(), server_default=sa.text('gen_random_uuid()'), nullable=False),
        sa.Column('webhook_id', sa.Uuid(), nullable=False),
        sa.Column('type', sa.Text(), nullable=False),
        sa.Column('data', postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column('status', sa.Text(), server_default='pending', nullable=False),
        sa.Column('attempts', sa.Integer(), server_default=sa.text('0'), nullable=False),
        sa.Column('next_attempt_at', sa.DateTime(timezone=True), server_default=sa.text('clock_timestamp()'), nullable=False),
        sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('clock_timestamp()'), nullable=False),
        sa.Column('last_attempt_at', sa.DateTime(timezone=True), nullable=True),
        sa.Column('last_status', sa.Integer(), nullable=True),
        sa.Column('last_error', sa.Text(), nullable=True),
        sa.CheckConstraint("status IN ('pending', 'delivered', 'failed')", name=op.f('ck_delivery_status')),
        sa.ForeignKeyConstraint(['webhook_id'], ['webhook.id'], name=op.f('fk_delivery_webhook_id'), ondelete='CASCADE'),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_delivery')),
    )
    op.create_index('ix_delivery_pending', 'delivery', ['webhook_id', 'next_attempt_at'], postgresql_where=sa.text("status = 'pending'"))
    op.create_index('ix_delivery_webhook_id_created_at', 'delivery', ['webhook_id', 'created_at'])
    op.create_index('ix_delivery_created_at', 'delivery', ['created_at'])


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.drop_table('delivery')
    op.drop_table('webhook')
