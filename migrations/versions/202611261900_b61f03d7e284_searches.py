"""What searches read of versions, apart from all else that is stored of them.

Revises: 3b9d7e51a0f6
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "b61f03d7e284"
down_revision = "3b9d7e51a0f6"
branch_labels = None
depends_on = None

# All parts of a text that have at least so many characters, and three at most.
_NGRAMS = """
CREATE FUNCTION ngrams(text, shortest integer) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
COST 200 AS $$
    SELECT coalesce(array_agg(DISTINCT gram), '{}') FROM (
        SELECT unnest(ARRAY[one, one || lead(one) OVER rest, one || lead(one) OVER rest || lead(one, 2) OVER rest])
        FROM unnest(string_to_array($1, NULL)) WITH ORDINALITY AS character (one, place)
        WINDOW rest AS (ORDER BY place)
    ) AS every (gram) WHERE length(gram) >= shortest
$$
"""


def upgrade() -> None:
    # A migration that waits for a lock must not stop everybody behind it.
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(_NGRAMS)
    op.create_table(
        "searched_version",
        sa.Column("version_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("entry_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("facets", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("seen_by", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"], ["entry_version.id"], name=op.f("fk_searched_version_version_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("version_id", name=op.f("pk_searched_version")),
        sa.UniqueConstraint("entry_id", "version", name=op.f("uq_searched_version_entry_id_version")),
    )
    op.create_table(
        "offered_privacy",
        sa.Column("version_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("criterion", sa.Text(), nullable=False),
        sa.Column("lowest", sa.Float(), nullable=False),
        sa.Column("highest", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["searched_version.version_id"],
            name=op.f("fk_offered_privacy_version_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("version_id", "criterion", name=op.f("pk_offered_privacy")),
    )


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.drop_table("offered_privacy")
    op.drop_table("searched_version")
    op.execute("DROP FUNCTION ngrams(text, integer)")
