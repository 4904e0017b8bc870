"""The job queue: Procrastinate's own schema, as the pinned release ships it.

A newer release that changes its schema needs a revision of its own here; tests/app/catalog/test_migrations.py fails until it has one.
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
    # The driver's own connection: the schema is many statements, with signs that SQLAlchemy would read as parameters.
    op.get_bind().connection.driver_connection.execute(SchemaManager.get_schema())


def downgrade() -> None:
    op.get_bind().connection.driver_connection.execute(_DROP)
