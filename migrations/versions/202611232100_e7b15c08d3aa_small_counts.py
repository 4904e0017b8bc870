"""Which versions were published with exact small counts, and the privacy that each tenant requires.

Older versions were stored before anybody was asked: nothing was accepted for them. Tenants require nothing at first.

Revises: e7b3a5d21c40
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = 'e7b15c08d3aa'
down_revision = 'e7b3a5d21c40'
branch_labels = None
depends_on = None


def upgrade() -> None:
    # A migration that waits for a lock must not stop everybody behind it.
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.add_column('entry_version', sa.Column('accepted_small_counts', sa.Boolean(), nullable=False, server_default=sa.false()))
    op.alter_column('entry_version', 'accepted_small_counts', server_default=None)
    op.add_column('tenant', sa.Column('required_privacy', postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False))


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    # An older service would compute a waiting question as if there were no policy.
    op.execute("DELETE FROM advice WHERE question -> 'policy' -> 'at_least' <> '{}' OR question -> 'policy' -> 'at_most' <> '{}'")
    op.drop_column('tenant', 'required_privacy')
    op.drop_column('entry_version', 'accepted_small_counts')
