"""Audit keys: the database itself records in the audit log that a public key was added.

Revises: f4a9d27c5e13
"""

import sqlalchemy as sa
from alembic import op

revision = '27b8e0c4d91f'
down_revision = 'f4a9d27c5e13'
branch_labels = None
depends_on = None

# A new key ends the one before, so whoever adds one, the service or statements that somebody injects into it, must not
# be able to leave that out. It runs with the rights of the owner and with the schema for temporary tables last: nobody
# can put a table of the same name before ours.
_RECORD = """
CREATE FUNCTION record_audit_key() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, {schema}, pg_temp AS $$
BEGIN
    INSERT INTO audit_record (action, target, value) VALUES ('audit_key.add', NEW.id, NEW.public_key);
    RETURN NULL;
END
$$
"""

_TRIGGER = """
CREATE TRIGGER record AFTER INSERT ON audit_key FOR EACH ROW EXECUTE FUNCTION record_audit_key()
"""


def upgrade() -> None:
    # A migration that waits for a lock must not stop everybody behind it.
    op.execute("SET LOCAL lock_timeout = '5s'")
    schema = op.get_bind().execute(sa.text('SELECT quote_ident(current_schema())')).scalar_one()
    op.execute(_RECORD.format(schema=schema))
    op.execute(_TRIGGER)


def downgrade() -> None:
    op.execute('DROP TRIGGER record ON audit_key')
    op.execute('DROP FUNCTION record_audit_key()')
