"""Leases: which program fulfils a data request.

Revises: e1c6f7a3b058
"""

import sqlalchemy as sa
from alembic import op

revision = 'a5d20c8f1e73'
down_revision = 'e1c6f7a3b058'
branch_labels = None
depends_on = None


def upgrade() -> None:
    # A migration that waits for a lock must not stop everybody behind it.
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.create_table(
        'lease',
        sa.Column('request_id', sa.Uuid(), nullable=False),
        sa.Column('id', sa.Uuid(), nullable=False),
        sa.Column('expires_at', sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(['request_id'], ['data_request.id'], name=op.f('fk_lease_request_id'), ondelete='CASCADE'),
        sa.PrimaryKeyConstraint('request_id', name=op.f('pk_lease')),
    )


def downgrade() -> None:
    op.drop_table('lease')
