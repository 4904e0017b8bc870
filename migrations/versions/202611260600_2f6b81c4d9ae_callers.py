"""Reviewers and administrators, the last use and the successors of keys, and the sign-off of versions.

Versions from before await nothing: others see them already. Who published them is not known.

Revises: e7b15c08d3aa
"""

import sqlalchemy as sa
from alembic import op

revision = '2f6b81c4d9ae'
down_revision = 'e7b15c08d3aa'
branch_labels = None
depends_on = None


def upgrade() -> None:
    # A migration that waits for a lock must not stop everybody behind it.
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.drop_constraint('ck_api_key_role', 'api_key')
    op.create_check_constraint(
        op.f('ck_api_key_role'), 'api_key', "role IN ('consumer', 'provider', 'reviewer', 'administrator', 'operator')"
    )
    op.add_column('api_key', sa.Column('last_used_at', sa.DateTime(timezone=True), nullable=True))
    op.add_column('api_key', sa.Column('replaces', sa.Text(), nullable=True))
    op.add_column('tenant', sa.Column('demands_sign_off', sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column('entry', sa.Column('released_version', sa.Integer(), nullable=True))
    op.add_column('entry_version', sa.Column('awaits_sign_off', sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column('entry_version', sa.Column('published_by', sa.Text(), nullable=True))
    op.add_column('entry_version', sa.Column('signed_off_by', sa.Text(), nullable=True))
    op.add_column('entry_version', sa.Column('signed_off_at', sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    # An older service would show versions that nobody has signed off to everybody.
    op.execute("UPDATE entry SET audience = 'private', audience_tenants = '{}' WHERE id IN (SELECT entry_id FROM entry_version WHERE awaits_sign_off)")
    for name in ('signed_off_at', 'signed_off_by', 'published_by', 'awaits_sign_off'):
        op.drop_column('entry_version', name)
    op.drop_column('entry', 'released_version')
    op.drop_column('tenant', 'demands_sign_off')
    op.drop_column('api_key', 'replaces')
    op.drop_column('api_key', 'last_used_at')
    # Keys of roles that an older service does not know stay, but are of no use; consumers are the weakest.
    op.execute("UPDATE api_key SET revoked_at = coalesce(revoked_at, clock_timestamp()), role = 'consumer' WHERE role IN ('reviewer', 'administrator')")
    op.drop_constraint('ck_api_key_role', 'api_key')
    op.create_check_constraint(op.f('ck_api_key_role'), 'api_key', "role IN ('provider', 'consumer', 'operator')")
