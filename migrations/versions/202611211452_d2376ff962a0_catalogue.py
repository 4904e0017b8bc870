"""The catalogue: tenants, keys, entries in versions, references, advice."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql
revision = 'd2376ff962a0'
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    # A migration that waits for a lock must not block all queries behind it.
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.create_table('tenant',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('name', sa.Text(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('clock_timestamp()'), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_tenant')),
    sa.UniqueConstraint('name', name=op.f('uq_tenant_name'))
    )
    op.create_table('api_key',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('tenant_id', sa.Integer(), nullable=False),
    sa.Column('role', sa.Text(), nullable=False),
    sa.Column('prefix', sa.Text(), nullable=False),
    sa.Column('key_hash', sa.LargeBinary(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('clock_timestamp()'), nullable=False),
    sa.Column('expires_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('revoked_at', sa.DateTime(timezone=True), nullable=True),
    sa.CheckConstraint("role IN ('provider', 'consumer', 'operator')", name=op.f('ck_api_key_role')),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenant.id'], name=op.f('fk_api_key_tenant_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_api_key')),
    sa.UniqueConstraint('key_hash', name=op.f('uq_api_key_key_hash')),
    sa.UniqueConstraint('prefix', name=op.f('uq_api_key_prefix'))
    )
    op.create_table('entry',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('tenant_id', sa.Integer(), nullable=False),
    sa.Column('name', sa.Text(), nullable=False),
    sa.Column('audience', sa.Text(), nullable=False),
    sa.Column('audience_tenants', sa.ARRAY(sa.Text()), nullable=False),
    sa.Column('latest_version', sa.Integer(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('clock_timestamp()'), nullable=False),
    sa.CheckConstraint("audience IN ('private', 'all', 'tenants')", name=op.f('ck_entry_audience')),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenant.id'], name=op.f('fk_entry_tenant_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_entry')),
    sa.UniqueConstraint('tenant_id', 'name', name=op.f('uq_entry_tenant_id_name'))
    )
    op.create_index('ix_entry_created_at_id', 'entry', ['created_at', 'id'], unique=False)
    op.create_table('entry_version',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('entry_id', sa.Uuid(), nullable=False),
    sa.Column('version', sa.Integer(), nullable=False),
    sa.Column('digest', sa.Text(), nullable=False),
    sa.Column('title', sa.Text(), nullable=False),
    sa.Column('description', sa.Text(), nullable=False),
    sa.Column('keywords', sa.ARRAY(sa.Text()), nullable=False),
    sa.Column('license', sa.Text(), nullable=False),
    sa.Column('label', sa.Text(), nullable=False),
    sa.Column('outline', postgresql.JSONB(astext_type=sa.Text()), nullable=False),
    sa.Column('schema', sa.LargeBinary(), nullable=False),
    sa.Column('configurations', sa.LargeBinary(), nullable=False),
    sa.Column('configuration_ids', sa.LargeBinary(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('clock_timestamp()'), nullable=False),
    sa.ForeignKeyConstraint(['entry_id'], ['entry.id'], name=op.f('fk_entry_version_entry_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_entry_version')),
    sa.UniqueConstraint('entry_id', 'version', name=op.f('uq_entry_version_entry_id_version'))
    )
    op.create_table('advice',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('version_id', sa.Integer(), nullable=False),
    sa.Column('question', postgresql.JSONB(astext_type=sa.Text()), nullable=False),
    sa.Column('question_digest', sa.LargeBinary(), nullable=False),
    sa.Column('model_version', sa.Text(), nullable=False),
    sa.Column('status', sa.Text(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('clock_timestamp()'), nullable=False),
    sa.Column('elapsed_ms', sa.Float(), nullable=True),
    sa.Column('result', sa.LargeBinary(), nullable=True),
    sa.Column('problem', postgresql.JSONB(astext_type=sa.Text()), nullable=True),
    sa.CheckConstraint("status IN ('queued', 'running', 'succeeded', 'failed')", name=op.f('ck_advice_status')),
    sa.ForeignKeyConstraint(['version_id'], ['entry_version.id'], name=op.f('fk_advice_version_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_advice')),
    sa.UniqueConstraint('version_id', 'question_digest', 'model_version', name=op.f('uq_advice_version_id_question_digest_model_version'))
    )
    op.create_table('configuration_table',
    sa.Column('version_id', sa.Integer(), nullable=False),
    sa.Column('guarantee', sa.Text(), nullable=False),
    sa.Column('dtype', sa.Text(), nullable=False),
    sa.Column('shape', sa.ARRAY(sa.Integer()), nullable=False),
    sa.Column('data', sa.LargeBinary(), nullable=False),
    sa.ForeignKeyConstraint(['version_id'], ['entry_version.id'], name=op.f('fk_configuration_table_version_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('version_id', 'guarantee', name=op.f('pk_configuration_table'))
    )
    op.create_table('count_table',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('version_id', sa.Integer(), nullable=False),
    sa.Column('kind', sa.Text(), nullable=False),
    sa.Column('attribute', sa.Integer(), nullable=True),
    sa.Column('masking', sa.Integer(), nullable=True),
    sa.Column('dtype', sa.Text(), nullable=False),
    sa.Column('shape', sa.ARRAY(sa.Integer()), nullable=False),
    sa.Column('data', sa.LargeBinary(), nullable=False),
    sa.CheckConstraint("kind IN ('label_histogram', 'histogram', 'joint', 'masked_joint')", name=op.f('ck_count_table_kind')),
    sa.ForeignKeyConstraint(['version_id'], ['entry_version.id'], name=op.f('fk_count_table_version_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_count_table'))
    )
    op.create_index('ix_count_table_version_id_attribute', 'count_table', ['version_id', 'attribute'], unique=False)
    op.create_table('reference',
    sa.Column('version_id', sa.Integer(), nullable=False),
    sa.Column('model_version', sa.Text(), nullable=False),
    sa.Column('attribute', sa.Integer(), nullable=False),
    sa.Column('method', sa.Text(), nullable=False),
    sa.Column('atoms', sa.Integer(), nullable=False),
    sa.Column('iterations', sa.Integer(), nullable=False),
    sa.Column('residual', sa.Float(), nullable=False),
    sa.Column('converged', sa.Boolean(), nullable=False),
    sa.Column('information_bound', sa.Float(), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('clock_timestamp()'), nullable=False),
    sa.ForeignKeyConstraint(['version_id'], ['entry_version.id'], name=op.f('fk_reference_version_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('version_id', 'model_version', 'attribute', name=op.f('pk_reference'))
    )
    op.create_table('reference_array',
    sa.Column('version_id', sa.Integer(), nullable=False),
    sa.Column('model_version', sa.Text(), nullable=False),
    sa.Column('attribute', sa.Integer(), nullable=False),
    sa.Column('name', sa.Text(), nullable=False),
    sa.Column('dtype', sa.Text(), nullable=False),
    sa.Column('shape', sa.ARRAY(sa.Integer()), nullable=False),
    sa.Column('data', sa.LargeBinary(), nullable=False),
    sa.ForeignKeyConstraint(['version_id'], ['entry_version.id'], name=op.f('fk_reference_array_version_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('version_id', 'model_version', 'attribute', 'name', name=op.f('pk_reference_array'))
    )
    # Packed arrays are compressed already: PostgreSQL need not try again.
    for table in ("count_table", "configuration_table", "reference_array"):
        op.execute(f"ALTER TABLE {table} ALTER COLUMN data SET STORAGE EXTERNAL")
    for column in ("schema", "configurations", "configuration_ids"):
        op.execute(f"ALTER TABLE entry_version ALTER COLUMN {column} SET STORAGE EXTERNAL")
    op.execute("ALTER TABLE advice ALTER COLUMN result SET STORAGE EXTERNAL")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.drop_table('reference_array')
    op.drop_table('reference')
    op.drop_index('ix_count_table_version_id_attribute', table_name='count_table')
    op.drop_table('count_table')
    op.drop_table('configuration_table')
    op.drop_table('advice')
    op.drop_table('entry_version')
    op.drop_index('ix_entry_created_at_id', table_name='entry')
    op.drop_table('entry')
    op.drop_table('api_key')
    op.drop_table('tenant')
