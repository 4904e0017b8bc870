"""What searches read of the versions that are there already, a few at a time, and then the indexes.

Each part is committed, so that nobody waits for the whole. What is there already stays, so it can be repeated.

Revises: b61f03d7e284
"""

import zlib
from collections.abc import Iterable, Iterator
from typing import Any

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
INSERT INTO searched_version (version_id, entry_id, version, created_at, text, facets, seen_by)
SELECT v.id, e.id, v.version, e.created_at,
    lower(concat_ws(E'\\n', e.name, v.title, array_to_string(nullif(v.keywords, '{}'), E'\\n'))),
    ARRAY(SELECT 'keyword:' || one FROM unnest(v.keywords) AS one)
    || ARRAY(SELECT 'attribute:' || (one ->> 'name') FROM jsonb_array_elements(v.outline) AS one)
    || ARRAY['label:' || v.label, 'license:' || v.license],
    e.audience_tenants || tenant.name || CASE WHEN e.audience = 'all' THEN ARRAY[''] ELSE '{}' END
FROM entry_version AS v JOIN entry AS e ON e.id = v.entry_id JOIN tenant ON tenant.id = e.tenant_id
WHERE v.id = ANY(:ids) ON CONFLICT DO NOTHING
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
    "ix_searched_version_search": "searched_version USING gin (ngrams(text, 1), facets, seen_by) "
    "WITH (fastupdate = false)",
    "ix_offered_privacy_criterion_lowest": "offered_privacy (criterion, lowest)",
    "ix_offered_privacy_criterion_highest": "offered_privacy (criterion, highest)",
}


def _offered(rows: Iterable[sa.Row[Any]]) -> Iterator[dict[str, Any]]:
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
        for name, place in _INDEXES.items():
            op.execute(f"CREATE INDEX IF NOT EXISTS {name} ON {place}")
        op.execute("ANALYZE searched_version, offered_privacy")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    for name in _INDEXES:
        op.execute(f"DROP INDEX {name}")
    op.execute("DELETE FROM searched_version")
