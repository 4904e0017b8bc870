"""Searches find words in the names of label and attributes, too; a trigger adds these, also for the version before.

They follow a form feed, which no name, title or keyword has. The numbers of records and columns, which the catalogue
shows, are kept beside the privacy.

Revises: c3f81d5a9e26
"""

import json
import zlib

import sqlalchemy as sa
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
_UNCOUNTED = sa.text("""
SELECT id, schema, jsonb_array_length(outline) AS columns FROM entry_version WHERE id IN (
    SELECT version_id FROM searched_version WHERE NOT EXISTS (
        SELECT FROM offered_privacy AS o WHERE o.version_id = searched_version.version_id AND criterion = 'columns'
    ) LIMIT 50
)
""")
_COUNTED = sa.text("""
INSERT INTO offered_privacy (version_id, criterion, lowest, highest)
VALUES (:id, 'records', :records, :records), (:id, 'columns', :columns, :columns) ON CONFLICT DO NOTHING
""")


def upgrade() -> None:
    op.execute(_ADD)
    op.execute(_TRIGGER)
    with op.get_context().autocommit_block():
        connection = op.get_bind()
        while connection.exec_driver_sql(_FILL).rowcount:
            pass
        while rows := connection.execute(_UNCOUNTED).all():
            schemas = (json.loads(zlib.decompress(row.schema)) for row in rows)
            counted = zip(rows, schemas, strict=True)
            connection.execute(
                _COUNTED,
                [{"id": row.id, "records": of["records"], "columns": row.columns} for row, of in counted],
            )


def downgrade() -> None:
    op.execute("DELETE FROM offered_privacy WHERE criterion IN ('records', 'columns')")
    op.execute("DROP TRIGGER add_columns ON searched_version")
    op.execute("DROP FUNCTION add_searched_columns()")
    op.execute("UPDATE searched_version SET text = split_part(text, E'\\f', 1)")
