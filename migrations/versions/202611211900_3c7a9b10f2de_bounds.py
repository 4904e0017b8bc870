"""What is certain of a reference: which cells are empty, and upper bounds on the utility of all tables that fit.

Revises: 8e4f1d2c7b60
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql
revision = '3c7a9b10f2de'
down_revision = '8e4f1d2c7b60'
branch_labels = None
depends_on = None


def upgrade() -> None:
    # A migration that waits for a lock must not block all queries behind it.
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.add_column('reference', sa.Column('support_known', sa.Boolean(), server_default=sa.text('false'), nullable=False))
    op.add_column('reference', sa.Column('ceilings', postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False))


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.drop_column('reference', 'ceilings')
    op.drop_column('reference', 'support_known')
