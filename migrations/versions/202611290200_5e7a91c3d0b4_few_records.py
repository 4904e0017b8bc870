"""How many listed values of a version certainly have 1 to 4 records; null for versions that were judged before.

Revises: c5a1e83f7d20
"""

import sqlalchemy as sa
from alembic import op

revision = "5e7a91c3d0b4"
down_revision = "c5a1e83f7d20"
branch_labels = None
depends_on = None
ends_compatibility = False


def upgrade() -> None:
    op.add_column("verdict", sa.Column("few", sa.Integer(), nullable=True))


def downgrade() -> None:
    op.drop_column("verdict", "few")
