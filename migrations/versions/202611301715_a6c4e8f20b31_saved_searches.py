"""Saved searches, and the versions that they were told of.

Revises: f3b2a7d81c09
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "a6c4e8f20b31"
down_revision = "f3b2a7d81c09"
branch_labels = None
depends_on = None
ends_compatibility = False


def upgrade() -> None:
    op.create_table(
        "saved_search",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Integer(), nullable=False),
        sa.Column(
            "created_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.Column("created_by", sa.Text(), nullable=True),
        sa.Column("found_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("asked", postgresql.JSONB(), nullable=False),
        sa.Column("words", sa.ARRAY(sa.Text()), nullable=False),
        sa.Column("facets", sa.ARRAY(sa.Text()), nullable=False),
        sa.Column("required", postgresql.JSONB(), nullable=False),
        sa.Column("changed_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("task", sa.Text(), nullable=True),
        sa.Column("k", sa.Float(), nullable=True),
        sa.Column("kind", sa.Integer(), nullable=True),
        sa.Column("low", sa.Float(), nullable=True),
        sa.Column("score", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name=op.f("fk_saved_search_tenant_id_tenant")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_saved_search")),
    )
    op.create_index(op.f("ix_saved_search_tenant_id"), "saved_search", ["tenant_id"])
    op.create_table(
        "alert",
        sa.Column("search_id", sa.Uuid(), nullable=False),
        sa.Column("version_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(
            ["search_id"], ["saved_search.id"], name=op.f("fk_alert_search_id_saved_search"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["version_id"], ["entry_version.id"], name=op.f("fk_alert_version_id_entry_version"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("search_id", "version_id", name=op.f("pk_alert")),
    )
    op.create_index(op.f("ix_alert_version_id"), "alert", ["version_id"])


def downgrade() -> None:
    op.drop_table("alert")
    op.drop_table("saved_search")
