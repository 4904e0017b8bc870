"""How much the versions take that are there already.

Apart from the column, whose lock would stop everybody while all versions are read.

Revises: c81f4e6a2b37
"""

from alembic import op

revision = 'd40b7a95e612'
down_revision = 'c81f4e6a2b37'
branch_labels = None
depends_on = None

_BYTES = """
UPDATE entry_version SET stored_bytes = octet_length(schema) + octet_length(configurations)
    + octet_length(configuration_ids)
    + (SELECT coalesce(sum(octet_length(data)), 0) FROM count_table WHERE version_id = entry_version.id)
    + (SELECT coalesce(sum(octet_length(data)), 0) FROM configuration_table WHERE version_id = entry_version.id)
"""


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(_BYTES)


def downgrade() -> None:
    pass
