"""Which versions of the service work with this schema: those that were made for one of these revisions.

Revises: 4e9c7a2d5b18
"""

import sqlalchemy as sa
from alembic import op

revision = "8d2c4f6a1b93"
down_revision = "4e9c7a2d5b18"
branch_labels = None
depends_on = None


def upgrade() -> None:
    compatible = op.create_table(
        "compatible_revision",
        sa.Column("revision", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("revision", name=op.f("pk_compatible_revision")),
    )
    # From here on, `migrations/env.py` notes each revision. This one takes nothing from those before it.
    op.bulk_insert(compatible, [{"revision": down_revision}])


def downgrade() -> None:
    op.drop_table("compatible_revision")
