"""Searches find words in the names of label and attributes, too; a trigger adds these, also for the version before.

They follow a form feed, which no name, title or keyword has.

Revises: c3f81d5a9e26
"""

from alembic import op

revision = "7c4d19e8b2f5"
down_revision = "c3f81d5a9e26"
branch_labels = None
depends_on = None
ends_compatibility = False

# Of many attributes, the first: an index of all parts of very long texts would take seconds for each version.
_ADD = """
CREATE FUNCTION add_searched_columns() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF strpos(NEW.text, E'\\f') = 0 THEN
        NEW.text := NEW.text || E'\\f' || coalesce(left(lower((
            SELECT string_agg(substr(facet, strpos(facet, ':') + 1), E'\\n' ORDER BY facet LIKE 'attribute:%', place)
            FROM unnest(NEW.facets) WITH ORDINALITY AS listed (facet, place)
            WHERE facet LIKE 'attribute:%' OR facet LIKE 'label:%'
        )), 20000), '');
    END IF;
    RETURN NEW;
END
$$
"""
_TRIGGER = """
CREATE TRIGGER add_columns BEFORE INSERT OR UPDATE OF text ON searched_version
FOR EACH ROW EXECUTE FUNCTION add_searched_columns()
"""

# In small transactions of their own, which can be repeated.
_FILL = """
UPDATE searched_version SET text = text WHERE version_id IN (
    SELECT version_id FROM searched_version WHERE strpos(text, E'\\f') = 0 LIMIT 500 FOR UPDATE SKIP LOCKED
)
"""


def upgrade() -> None:
    op.execute(_ADD)
    op.execute(_TRIGGER)
    with op.get_context().autocommit_block():
        while op.get_bind().exec_driver_sql(_FILL).rowcount:
            pass


def downgrade() -> None:
    op.execute("DROP TRIGGER add_columns ON searched_version")
    op.execute("DROP FUNCTION add_searched_columns()")
    op.execute("UPDATE searched_version SET text = split_part(text, E'\\f', 1)")
