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

def upgrade() -> None:
    # A migration that waits for a lock must not stop everybody behind it.
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.add_column('tenant', sa.Column('quota', postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False))
    op.add_column('entry_version', sa.Column('stored_bytes', sa.BigInteger(), server_default=sa.text('0'), nullable=False))
    op.create_index('ix_question_tenant_id_created_at', 'question', ['tenant_id', 'created_at'], unique=False)


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.drop_index('ix_question_tenant_id_created_at', table_name='question')
    op.drop_column('entry_version', 'stored_bytes')
    op.drop_column('tenant', 'quota')
