"""Which configurations of one table a tenant's consumers may have together, the table that a request is about, and
what a provider accepted beside it.

Revises: b8e6d1f403a7
"""

import sqlalchemy as sa
from alembic import op

revision = "d1a7c5e94b60"
down_revision = "b8e6d1f403a7"
branch_labels = None
depends_on = None
ends_compatibility = False


def upgrade() -> None:
    for table, column in (("tenant", "composition"), ("data_request", "table_name"), ("data_request_change", "beside")):
        # A try whose index failed has left them.
        op.add_column(table, sa.Column(column, sa.Text(), nullable=True), if_not_exists=True)
    with op.get_context().autocommit_block():
        op.execute("SET lock_timeout = 0")
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS ix_data_request_consumer_id_table")
        op.execute(
            "CREATE INDEX CONCURRENTLY ix_data_request_consumer_id_table "
            "ON data_request (consumer_id, coalesce(table_name, entry_name))"
        )
        op.execute("SET lock_timeout = '2s'")


def downgrade() -> None:
    op.execute("DROP INDEX ix_data_request_consumer_id_table")
    op.drop_column("data_request_change", "beside")
    op.drop_column("data_request", "table_name")
    op.drop_column("tenant", "composition")
