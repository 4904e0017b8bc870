"""Questions by tenant, their budget, entries whose answers are open, and digests that confirm no guess.

Stored answers lack the shares that other tenants read: they are removed, and computed again when somebody asks.

Revises: 6d20e4c81f95
"""

import hmac
import secrets

import sqlalchemy as sa
from alembic import op

revision = 'a1f0c93d7b52'
down_revision = '6d20e4c81f95'
branch_labels = None
depends_on = None


def upgrade() -> None:
    # A migration that waits for a lock must not stop everybody behind it.
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("DELETE FROM advice")
    op.add_column('entry_version', sa.Column('open_answers', sa.Boolean(), nullable=False, server_default=sa.false()))
    op.alter_column('entry_version', 'open_answers', server_default=None)
    op.create_table('server_key',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('value', sa.LargeBinary(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_server_key'))
    )
    key = secrets.token_bytes(32)
    op.execute(sa.text("INSERT INTO server_key (value) VALUES (:key)").bindparams(key=key))
    op.add_column('entry_version', sa.Column('keyed_digest', sa.Text(), nullable=True))
    versions = op.get_bind().execute(sa.text("SELECT id, entry_id, digest FROM entry_version")).all()
    for version_id, entry_id, digest in versions:
        keyed = f"hmac-sha256:{hmac.digest(key, f'{entry_id} {digest}'.encode(), 'sha256').hex()}"
        change = sa.text("UPDATE entry_version SET keyed_digest = :keyed WHERE id = :id")
        op.execute(change.bindparams(keyed=keyed, id=version_id))
    op.alter_column('entry_version', 'keyed_digest', nullable=False)
    op.create_table('question',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('advice_id', sa.Uuid(), nullable=False),
    sa.Column('tenant_id', sa.Integer(), nullable=False),
    sa.Column('view', sa.Text(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('clock_timestamp()'), nullable=False),
    sa.CheckConstraint("view IN ('full', 'coarse')", name=op.f('ck_question_view')),
    sa.ForeignKeyConstraint(['advice_id'], ['advice.id'], name=op.f('fk_question_advice_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenant.id'], name=op.f('fk_question_tenant_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_question')),
    sa.UniqueConstraint('advice_id', 'tenant_id', 'view', name=op.f('uq_question_advice_id_tenant_id_view'))
    )
    op.create_table('question_budget',
    sa.Column('version_id', sa.Integer(), nullable=False),
    sa.Column('tenant_id', sa.Integer(), nullable=False),
    sa.Column('used', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenant.id'], name=op.f('fk_question_budget_tenant_id')),
    sa.ForeignKeyConstraint(['version_id'], ['entry_version.id'], name=op.f('fk_question_budget_version_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('version_id', 'tenant_id', name=op.f('pk_question_budget'))
    )


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.drop_table('question_budget')
    op.drop_table('question')
    op.drop_column('entry_version', 'keyed_digest')
    op.drop_column('entry_version', 'open_answers')
    op.drop_table('server_key')
