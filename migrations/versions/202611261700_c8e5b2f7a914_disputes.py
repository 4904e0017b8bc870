"""Disputes without a file, and verifications that lose their counts together with the entry's version.

Revises: f4a9d27c5e13
"""

from alembic import op

revision = 'c8e5b2f7a914'
down_revision = 'f4a9d27c5e13'
branch_labels = None
depends_on = None

# Versions go in several ways, and a verdict may come at the same time. The change of the request, which waits for that
# verdict, is where all of them meet.
_FUNCTION = """
CREATE FUNCTION forget_differences() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE verification SET differences = '[]' WHERE request_id = NEW.id AND differences <> '[]';
    RETURN NULL;
END
$$
"""
_TRIGGER = """
CREATE TRIGGER forget_differences AFTER UPDATE OF version_id ON data_request
FOR EACH ROW WHEN (OLD.version_id IS NOT NULL AND NEW.version_id IS NULL) EXECUTE FUNCTION forget_differences()
"""
_OF_DELETED = """
UPDATE verification SET differences = '[]' FROM data_request
WHERE data_request.id = request_id AND version_id IS NULL AND differences <> '[]'
"""
# Texts that the entry does not list were stored with the counts before.
_UNLISTED = """
UPDATE verification SET differences = (
    SELECT coalesce(jsonb_agg(one ORDER BY place), '[]')
    FROM jsonb_array_elements(differences) WITH ORDINALITY AS each (one, place) WHERE one ->> 'published' IS NOT NULL
) WHERE jsonb_path_exists(differences, '$[*] ? (@.published == null)')
"""


def upgrade() -> None:
    # A migration that waits for a lock must not stop everybody behind it.
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.alter_column('verification', 'sha256', nullable=True)
    op.alter_column('verification', 'size', nullable=True)
    op.execute(_FUNCTION)
    op.execute(_TRIGGER)
    op.execute(_OF_DELETED)
    op.execute(_UNLISTED)


def downgrade() -> None:
    op.execute('DROP TRIGGER forget_differences ON data_request')
    op.execute('DROP FUNCTION forget_differences')
    # No file has this digest, and none was got.
    op.execute(f"UPDATE verification SET sha256 = '{'0' * 64}', size = 0 WHERE sha256 IS NULL")
    op.alter_column('verification', 'size', nullable=False)
    op.alter_column('verification', 'sha256', nullable=False)
