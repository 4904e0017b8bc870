"""What privacy counts: the people that a version's records are about, and the most records of each; null for records.

Revises: 7c4d19e8b2f5
"""

import sqlalchemy as sa
from alembic import op

revision = "b8e6d1f403a7"
down_revision = "7c4d19e8b2f5"
branch_labels = None
depends_on = None
ends_compatibility = False


def upgrade() -> None:
    op.add_column("entry_version", sa.Column("people", sa.BigInteger(), nullable=True))
    op.add_column("entry_version", sa.Column("rows_per_person", sa.Integer(), nullable=True))


def downgrade() -> None:
    op.drop_column("entry_version", "rows_per_person")
    op.drop_column("entry_version", "people")
