"""What each tenant may use, and what its versions take.

Revises: 7d1e93b0a5c8
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = 'c81f4e6a2b37'
down_revision = '7d1e93b0a5c8'
branch_labels = None
depends_on = None

_BYTES = """
UPDATE entry_version SET stored_bytes = octet_length(schema) + octet_length(configurations)
    + octet_length(configuration_ids)
    + (SELECT coalesce(sum(octet_length(data)), 0) FROM count_table WHERE version_id = entry_version.id)
    + (SELECT coalesce(sum(octet_length(data)), 0) FROM configuration_table WHERE version_id = entry_version.id)
"""


def upgrade() -> None:
    # A migration that waits for a lock must not stop everybody behind it.
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.add_column('tenant', sa.Column('quota', postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False))
    op.add_column('entry_version', sa.Column('stored_bytes', sa.BigInteger(), server_default=sa.text('0'), nullable=False))
    op.create_index('ix_question_tenant_id_created_at', 'question', ['tenant_id', 'created_at'], unique=False)
    op.execute(_BYTES)


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.drop_index('ix_question_tenant_id_created_at', table_name='question')
    op.drop_column('entry_version', 'stored_bytes')
    op.drop_column('tenant', 'quota')
