"""The names of a version's labels, the default one first; null for one label.

Revises: d1a7c5e94b60
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "e4f1a9c7d256"
down_revision = "d1a7c5e94b60"
branch_labels = None
depends_on = None
ends_compatibility = False


def upgrade() -> None:
    op.add_column("entry_version", sa.Column("labels", postgresql.ARRAY(sa.Text()), nullable=True))


def downgrade() -> None:
    op.drop_column("entry_version", "labels")
