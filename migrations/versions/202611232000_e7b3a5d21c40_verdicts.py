"""The verdict on each version: whether its counts give small ones away.

Versions that are stored already get none, since nobody waits for it; a new version does.

Revises: c4d27e90b1a6
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = 'e7b3a5d21c40'
down_revision = 'c4d27e90b1a6'
branch_labels = None
depends_on = None


def upgrade() -> None:
    # A migration that waits for a lock must not stop everybody behind it.
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.create_table('verdict',
    sa.Column('version_id', sa.Integer(), nullable=False),
    sa.Column('passed', sa.Boolean(), nullable=False),
    sa.Column('findings', postgresql.JSONB(astext_type=sa.Text()), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('clock_timestamp()'), nullable=False),
    sa.ForeignKeyConstraint(['version_id'], ['entry_version.id'], name=op.f('fk_verdict_version_id_entry_version'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('version_id', name=op.f('pk_verdict'))
    )


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("DELETE FROM procrastinate_jobs WHERE task_name = 'verdict' AND status = 'todo'")
    op.execute("DELETE FROM waiting_job WHERE task = 'verdict'")
    op.drop_table('verdict')
