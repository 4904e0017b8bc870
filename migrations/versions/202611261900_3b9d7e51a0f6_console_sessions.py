"""Sessions of the console, by the hashes of their tokens.

Revises: c8e5b2f7a914
"""

import sqlalchemy as sa
from alembic import op

revision = '3b9d7e51a0f6'
down_revision = 'c8e5b2f7a914'
branch_labels = None
depends_on = None

_CALLER = 'num_nonnulls(issuer, tenant, roles, subject) = CASE WHEN key_prefix IS NULL THEN 4 ELSE 0 END'


def upgrade() -> None:
    # A migration that waits for a lock must not stop everybody behind it.
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.create_table(
        'console_session',
        sa.Column('token_hash', sa.LargeBinary(), nullable=False),
        sa.Column('key_prefix', sa.Text(), nullable=True),
        sa.Column('issuer', sa.Text(), nullable=True),
        sa.Column('tenant', sa.Text(), nullable=True),
        sa.Column('roles', sa.ARRAY(sa.Text()), nullable=True),
        sa.Column('subject', sa.Text(), nullable=True),
        sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('clock_timestamp()'), nullable=False),
        sa.Column('expires_at', sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(_CALLER, name=op.f('ck_console_session_caller')),
        sa.ForeignKeyConstraint(
            ['key_prefix'], ['api_key.prefix'], name=op.f('fk_console_session_key_prefix')
        ),
        sa.PrimaryKeyConstraint('token_hash', name=op.f('pk_console_session')),
    )
    for column in ('key_prefix', 'subject', 'expires_at'):
        op.create_index(op.f(f'ix_console_session_{column}'), 'console_session', [column], unique=False)


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.drop_table('console_session')
