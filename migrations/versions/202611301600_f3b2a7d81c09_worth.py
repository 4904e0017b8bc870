"""What the tables of a version are worth, by label and by k; a trigger adds the rows, also for the version before.

Revises: e4f1a9c7d256
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "f3b2a7d81c09"
down_revision = "e4f1a9c7d256"
branch_labels = None
depends_on = None
ends_compatibility = False

# For the four k that searches know, up to the largest one that the version promises.
_TASKS = """
SELECT s.version_id, substr(facet, 7) AS task, asked.k, s.entry_id, s.version
FROM searched_version AS s, unnest(s.facets) AS facet, unnest(ARRAY[2, 5, 10, 20]) AS asked (k)
WHERE facet LIKE 'label:%'
"""
_ADD = f"""
CREATE FUNCTION add_worth() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO worth (version_id, task, k, entry_id, version)
    SELECT * FROM ({_TASKS}) AS tasks WHERE version_id = NEW.version_id AND k <= NEW.highest
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$
"""
_TRIGGER = """
CREATE TRIGGER add_worth AFTER INSERT ON offered_privacy
FOR EACH ROW WHEN (NEW.criterion = 'k') EXECUTE FUNCTION add_worth()
"""
_FILL = f"""
INSERT INTO worth (version_id, task, k, entry_id, version)
SELECT tasks.* FROM ({_TASKS}) AS tasks JOIN offered_privacy AS offered USING (version_id)
WHERE offered.criterion = 'k' AND tasks.k <= offered.highest ON CONFLICT DO NOTHING
"""


def upgrade() -> None:
    op.create_table(
        "worth",
        sa.Column("version_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("k", sa.Float(), nullable=False),
        sa.Column("entry_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("low", sa.Float(), server_default=sa.text("'-Infinity'"), nullable=False),
        sa.Column("score", sa.Float(), server_default=sa.text("'-Infinity'"), nullable=False),
        sa.Column("state", sa.Text(), server_default=sa.text("'pending'"), nullable=False),
        sa.Column("configuration", sa.Text(), nullable=True),
        sa.Column("expected", postgresql.JSONB(), nullable=True),
        sa.Column("masking", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["searched_version.version_id"],
            name=op.f("fk_worth_version_id_searched_version"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("version_id", "task", "k", name=op.f("pk_worth")),
    )
    op.create_index("ix_worth_order", "worth", ["task", "k", "kind", "low", "score", "entry_id"])
    op.create_index("ix_worth_pending", "worth", ["version_id"], postgresql_where=sa.text("state = 'pending'"))
    op.execute(_ADD)
    op.execute(_TRIGGER)
    op.execute(_FILL)


def downgrade() -> None:
    op.execute("DROP TRIGGER add_worth ON offered_privacy")
    op.execute("DROP FUNCTION add_worth()")
    op.drop_table("worth")
