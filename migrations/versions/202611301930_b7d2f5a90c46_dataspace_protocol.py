"""Negotiations and transfers of the Dataspace Protocol.

Revises: a6c4e8f20b31
"""

import sqlalchemy as sa
from alembic import op

revision = "b7d2f5a90c46"
down_revision = "a6c4e8f20b31"
branch_labels = None
depends_on = None
ends_compatibility = False

OPEN = {
    "negotiation": "state IN ('REQUESTED', 'OFFERED', 'ACCEPTED', 'AGREED', 'VERIFIED')",
    "transfer": "state IN ('REQUESTED', 'STARTED', 'SUSPENDED')",
}
STATES = {
    "negotiation": "state IN ('REQUESTED', 'OFFERED', 'ACCEPTED', 'AGREED', 'VERIFIED', 'FINALIZED', 'TERMINATED')",
    "transfer": "state IN ('REQUESTED', 'STARTED', 'SUSPENDED', 'COMPLETED', 'TERMINATED')",
}


def process(table: str, *own: sa.schema.SchemaItem) -> None:
    op.create_table(
        table,
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("consumer_id", sa.Integer(), nullable=False),
        sa.Column("consumer_pid", sa.Text(), nullable=False),
        sa.Column("callback", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column(
            "created_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("attempted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "next_attempt_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        *own,
        sa.CheckConstraint(STATES[table], name=op.f(f"ck_{table}_state")),
        sa.ForeignKeyConstraint(["consumer_id"], ["tenant.id"], name=op.f(f"fk_{table}_consumer_id_tenant")),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{table}")),
        sa.UniqueConstraint("consumer_id", "consumer_pid", name=op.f(f"uq_{table}_consumer_id_consumer_pid")),
    )
    op.create_index(f"ix_{table}_open", table, ["next_attempt_at"], postgresql_where=sa.text(OPEN[table]))
    claimed = sa.text("claimed_until IS NOT NULL")
    op.create_index(f"ix_{table}_claimed", table, ["consumer_id"], postgresql_where=claimed)


def upgrade() -> None:
    process(
        "negotiation",
        sa.Column("request_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["request_id"], ["data_request.id"], name=op.f("fk_negotiation_request_id_data_request"), ondelete="CASCADE"
        ),
        sa.UniqueConstraint("request_id", name=op.f("uq_negotiation_request_id")),
    )
    process(
        "transfer",
        sa.Column("negotiation_id", sa.Uuid(), nullable=False),
        sa.Column("link", sa.Text(), nullable=True),
        sa.Column("is_paused", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.ForeignKeyConstraint(
            ["negotiation_id"],
            ["negotiation.id"],
            name=op.f("fk_transfer_negotiation_id_negotiation"),
            ondelete="CASCADE",
        ),
    )
    op.create_index(op.f("ix_transfer_negotiation_id"), "transfer", ["negotiation_id"])
    op.create_index(
        "ix_transfer_negotiation_id_open",
        "transfer",
        ["negotiation_id"],
        unique=True,
        postgresql_where=sa.text(OPEN["transfer"]),
    )


def downgrade() -> None:
    op.drop_table("transfer")
    op.drop_table("negotiation")
