"""What searches read of the versions that are there already, a few at a time, and then the indexes.

Each part is committed, so that nobody waits for the whole. If it is stopped, it goes on where it was.

Revises: b61f03d7e284
"""

import zlib

import numpy as np
import sqlalchemy as sa
from alembic import op

revision = "4e9c7a2d5b18"
down_revision = "b61f03d7e284"
branch_labels = None
depends_on = None

_NEXT = sa.text("""
SELECT id FROM entry_version AS v WHERE id > :after
AND version >= (SELECT coalesce(released_version, latest_version) FROM entry WHERE id = v.entry_id) ORDER BY id LIMIT 50
""")
_SEARCHED = sa.text("""
INSERT INTO searched_version (version_id, entry_id, version, text, facets)
SELECT v.id, e.id, v.version, lower(concat_ws(E'\\n', e.name, v.title, array_to_string(nullif(v.keywords, '{}'), E'\\n'))),
    ARRAY(SELECT 'keyword:' || one FROM unnest(v.keywords) AS one)
    || ARRAY(SELECT 'attribute:' || (one ->> 'name') FROM jsonb_array_elements(v.outline) AS one)
    || ARRAY['label:' || v.label, 'license:' || v.license]
FROM entry_version AS v JOIN entry AS e ON e.id = v.entry_id WHERE v.id = ANY(:ids)
ON CONFLICT DO NOTHING
""")
# Other rows have codes and what is declared besides.
_PRIVACY = sa.text("""
SELECT version_id, guarantee, dtype, data FROM configuration_table JOIN searched_version USING (version_id)
WHERE version_id = ANY(:ids) AND guarantee <> '' AND guarantee NOT LIKE '/%'
""")
_OFFERED = sa.text("""
INSERT INTO offered_privacy (version_id, criterion, lowest, highest)
VALUES (:version_id, :criterion, :lowest, :highest) ON CONFLICT DO NOTHING
""")
_INDEXES = {
    "trigrams": "trigrams(text)",
    "facets": "facets",
}
_PRIVACY_INDEXES = ("lowest", "highest")


def _offered(rows):
    """The lowest and the highest number of each packed array; none where all are NaN."""
    for row in rows:
        numbers = np.frombuffer(zlib.decompress(row.data), dtype=np.dtype(row.dtype)).astype(float)
        numbers = numbers[~np.isnan(numbers)]
        if numbers.size:
            limits = {"lowest": float(numbers.min()), "highest": float(numbers.max())}
            yield {"version_id": row.version_id, "criterion": row.guarantee} | limits


def upgrade() -> None:
    with op.get_context().autocommit_block():
        connection, after = op.get_bind(), 0
        while ids := connection.scalars(_NEXT, {"after": after}).all():
            connection.execute(_SEARCHED, {"ids": ids})
            if offered := list(_offered(connection.execute(_PRIVACY, {"ids": ids}))):
                connection.execute(_OFFERED, offered)
            after = ids[-1]
        for name, what in _INDEXES.items():
            op.execute(
                f"CREATE INDEX IF NOT EXISTS ix_searched_version_{name} ON searched_version "
                f"USING gin ({what}) WITH (fastupdate = false)"
            )
        for column in _PRIVACY_INDEXES:
            op.execute(
                f"CREATE INDEX IF NOT EXISTS ix_offered_privacy_criterion_{column} "
                f"ON offered_privacy (criterion, {column})"
            )
        op.execute("ANALYZE searched_version")
        op.execute("ANALYZE offered_privacy")


def downgrade() -> None:
    for column in _PRIVACY_INDEXES:
        op.execute(f"DROP INDEX ix_offered_privacy_criterion_{column}")
    for name in _INDEXES:
        op.execute(f"DROP INDEX ix_searched_version_{name}")
    op.execute("DELETE FROM searched_version")
