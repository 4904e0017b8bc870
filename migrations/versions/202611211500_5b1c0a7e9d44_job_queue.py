"""The job queue: Procrastinate's own schema, as in the pinned release.

If a newer release changes its schema, add a revision here; until then, tests/app/platform/database/test_migrations.py fails.
"""

from alembic import op
from procrastinate.schema import SchemaManager

revision = "5b1c0a7e9d44"
down_revision = "d2376ff962a0"
branch_labels = None
depends_on = None

_DROP = """
DO $$
DECLARE thing text;
BEGIN
    FOR thing IN SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' AND relname LIKE 'procrastinate\\_%' LOOP
        EXECUTE 'DROP TABLE ' || thing || ' CASCADE';
    END LOOP;
    FOR thing IN SELECT oid::regprocedure::text FROM pg_proc WHERE proname LIKE 'procrastinate\\_%' LOOP
        EXECUTE 'DROP FUNCTION ' || thing || ' CASCADE';
    END LOOP;
    FOR thing IN SELECT oid::regtype::text FROM pg_type WHERE typtype IN ('e', 'c') AND typname LIKE 'procrastinate\\_%' LOOP
        EXECUTE 'DROP TYPE ' || thing || ' CASCADE';
    END LOOP;
END $$
"""


def upgrade() -> None:
    # The schema has many statements, and signs that SQLAlchemy would read as parameters: it needs the driver's connection.
    op.get_bind().connection.driver_connection.execute(SchemaManager.get_schema())


def downgrade() -> None:
    op.get_bind().connection.driver_connection.execute(_DROP)
