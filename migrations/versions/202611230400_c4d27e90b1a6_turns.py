"""Lines of waiting jobs, one for each tenant and lane.

Jobs that are queued already stay where they are, in the heavy lane. Stored answers are removed, since the order that
other tenants read of them was rounded less; they are computed again when somebody asks.

Revises: a1f0c93d7b52
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = 'c4d27e90b1a6'
down_revision = 'a1f0c93d7b52'
branch_labels = None
depends_on = None


def upgrade() -> None:
    # A migration that waits for a lock must not stop everybody behind it.
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.create_table('waiting_job',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('tenant', sa.Text(), nullable=False),
    sa.Column('lane', sa.Text(), nullable=False),
    sa.Column('task', sa.Text(), nullable=False),
    sa.Column('claim', sa.Text(), nullable=False),
    sa.Column('rank', sa.Integer(), nullable=False),
    sa.Column('arguments', postgresql.JSONB(astext_type=sa.Text()), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_waiting_job')),
    sa.UniqueConstraint('tenant', 'lane', 'claim', name=op.f('uq_waiting_job_tenant_lane_claim'))
    )
    op.create_index('ix_waiting_job_turn', 'waiting_job', ['tenant', 'lane', 'rank', 'id'], unique=False)
    op.execute("DELETE FROM advice")
    op.execute("DELETE FROM procrastinate_jobs WHERE task_name = 'advice' AND status = 'todo'")
    # A job that runs now may have to be repeated.
    waiting = "status IN ('todo', 'doing')"
    op.execute(f"UPDATE procrastinate_jobs SET queue_name = 'heavy', args = args || '{{\"tenant\": \"\"}}' WHERE {waiting}")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    # The references of waiting jobs are computed when somebody asks again.
    op.execute("DELETE FROM advice WHERE status = 'queued'")
    waiting = "status IN ('todo', 'doing')"
    op.execute(f"UPDATE procrastinate_jobs SET queue_name = 'default', args = args - 'tenant' WHERE {waiting}")
    op.drop_index('ix_waiting_job_turn', table_name='waiting_job')
    op.drop_table('waiting_job')
