"""When what others see of an entry last changed; a trigger keeps it, since the version before does not know it.

Entries that are there have changed now: who mirrors them reads them once more.

Revises: 5e7a91c3d0b4
"""

from alembic import op

revision = "9b2e6f0c7a41"
down_revision = "5e7a91c3d0b4"
branch_labels = None
depends_on = None
ends_compatibility = False

# The comparison is not the trigger's own condition, which would keep the columns from ever being changed.
_NOTE = """
CREATE FUNCTION note_entry_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (coalesce(OLD.released_version, OLD.latest_version), OLD.audience, OLD.audience_tenants) IS DISTINCT FROM
        (coalesce(NEW.released_version, NEW.latest_version), NEW.audience, NEW.audience_tenants) THEN
        NEW.changed_at := clock_timestamp();
    END IF;
    RETURN NEW;
END
$$
"""


def upgrade() -> None:
    # The time of this statement is one value for all rows, so that none is rewritten.
    op.execute("ALTER TABLE entry ADD COLUMN changed_at timestamptz NOT NULL DEFAULT now()")
    op.execute("ALTER TABLE entry ALTER COLUMN changed_at SET DEFAULT clock_timestamp()")
    op.execute(_NOTE)
    op.execute("CREATE TRIGGER note_change BEFORE UPDATE ON entry FOR EACH ROW EXECUTE FUNCTION note_entry_change()")


def downgrade() -> None:
    op.execute("DROP TRIGGER note_change ON entry")
    op.execute("DROP FUNCTION note_entry_change()")
    op.drop_column("entry", "changed_at")
