"""The audit log: records, their chain, signed heads, and the public keys by which these are checked.

Revises: 9d3a61f0c2e7
"""

import sqlalchemy as sa
from alembic import op

revision = 'f4a9d27c5e13'
down_revision = '9d3a61f0c2e7'
branch_labels = None
depends_on = None

# A record as RFC 8785 JSON, without the members that it does not have. PostgreSQL writes texts as RFC 8785 wants them.
# Its hash is the SHA-256 of this without `hash`. A new column needs a new version of this function, with its member at
# the place that the order of names gives it: then the hashes of old records stay true.
_FORM = """
CREATE FUNCTION audit_form(record audit_record, sequence bigint, previous text, hash text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT '{"action":' || to_json(record.action)
        || ',"at":"' || to_char(record.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') || 'Z"'
        || coalesce(',"configuration":' || to_json(record.configuration), '')
        || coalesce(',"digest":' || to_json(record.digest), '')
        || coalesce(',"entry":"' || record.entry_id || '"', '')
        || coalesce(',"file_sha256":' || to_json(record.file_sha256), '')
        || coalesce(',"hash":"' || hash || '"', '')
        || coalesce(',"previous":"' || previous || '"', '')
        || coalesce(',"request":"' || record.request_id || '"', '')
        || ',"salt":"' || record.salt || '"'
        || coalesce(',"sequence":' || sequence, '')
        || coalesce(',"side":' || to_json(record.side), '')
        || coalesce(',"state":' || to_json(record.state), '')
        || coalesce(',"subject":' || to_json(record.subject), '')
        || coalesce(',"target":' || to_json(record.target), '')
        || coalesce(',"tenant":' || to_json(record.tenant), '')
        || coalesce(',"terms":' || to_json(record.terms), '')
        || coalesce(',"value":' || to_json(record.value), '')
        || coalesce(',"version":' || record.version, '')
        || '}'
$$
"""

# It runs when a transaction commits, so the lock is held for as long as a commit takes. It runs with the rights of the
# owner: the service's own role can neither add a link nor choose its place. With the schema for temporary tables last,
# nobody can put a table of the same name before ours.
_CHAIN = """
CREATE FUNCTION chain_audit_record() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, {schema}, pg_temp AS $$
DECLARE
    last audit_link;
    own bigint;
    before text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('audit', 0));
    -- Somebody may be shown the hash as soon as this is committed, so a crash must not undo it.
    IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    SELECT * INTO last FROM audit_link ORDER BY audit_link.sequence DESC LIMIT 1;
    own := coalesce(last.sequence, 0) + 1;
    before := coalesce(last.hash, repeat('0', 64));
    INSERT INTO audit_link (sequence, record_id, previous, hash) VALUES (
        own, NEW.id, before, encode(sha256(convert_to(audit_form(NEW, own, before, NULL), 'UTF8')), 'hex')
    );
    RETURN NULL;
END
$$
"""

_TRIGGER = """
CREATE CONSTRAINT TRIGGER chain AFTER INSERT ON audit_record DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION chain_audit_record()
"""


def upgrade() -> None:
    # A migration that waits for a lock must not stop everybody behind it.
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.create_table(
        'audit_record',
        sa.Column('id', sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column('salt', sa.Uuid(), server_default=sa.text('gen_random_uuid()'), nullable=False),
        sa.Column('at', sa.DateTime(timezone=True), server_default=sa.text('clock_timestamp()'), nullable=False),
        sa.Column('action', sa.Text(), nullable=False),
        sa.Column('tenant', sa.Text(), nullable=True),
        sa.Column('subject', sa.Text(), nullable=True),
        sa.Column('side', sa.Text(), nullable=True),
        sa.Column('entry_id', sa.Uuid(), nullable=True),
        sa.Column('version', sa.Integer(), nullable=True),
        sa.Column('digest', sa.Text(), nullable=True),
        sa.Column('terms', sa.Text(), nullable=True),
        sa.Column('request_id', sa.Uuid(), nullable=True),
        sa.Column('state', sa.Text(), nullable=True),
        sa.Column('configuration', sa.Text(), nullable=True),
        sa.Column('file_sha256', sa.Text(), nullable=True),
        sa.Column('target', sa.Text(), nullable=True),
        sa.Column('value', sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_audit_record')),
    )
    op.create_index(op.f('ix_audit_record_at'), 'audit_record', ['at'])
    for column in ('entry_id', 'request_id'):
        op.create_index(op.f(f'ix_audit_record_{column}'), 'audit_record', [column], postgresql_where=sa.text(f'{column} IS NOT NULL'))
    op.create_table(
        'audit_link',
        sa.Column('sequence', sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column('record_id', sa.BigInteger(), nullable=False),
        sa.Column('previous', sa.Text(), nullable=False),
        sa.Column('hash', sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(['record_id'], ['audit_record.id'], name=op.f('fk_audit_link_record_id')),
        sa.PrimaryKeyConstraint('sequence', name=op.f('pk_audit_link')),
        sa.UniqueConstraint('record_id', name=op.f('uq_audit_link_record_id')),
    )
    op.create_table(
        'audit_head',
        sa.Column('id', sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column('sequence', sa.BigInteger(), nullable=False),
        sa.Column('key_id', sa.Text(), nullable=False),
        sa.Column('signed_at', sa.DateTime(timezone=True), nullable=False),
        sa.Column('jws', sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_audit_head')),
    )
    op.create_table(
        'audit_key',
        sa.Column('id', sa.Text(), nullable=False),
        sa.Column('public_key', sa.Text(), nullable=False),
        sa.Column('valid_from', sa.DateTime(timezone=True), server_default=sa.text('clock_timestamp()'), nullable=False),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_audit_key')),
    )
    schema = op.get_bind().execute(sa.text('SELECT quote_ident(current_schema())')).scalar_one()
    op.execute(_FORM)
    op.execute(_CHAIN.format(schema=schema))
    op.execute(_TRIGGER)


def downgrade() -> None:
    op.drop_table('audit_key')
    op.drop_table('audit_head')
    op.drop_table('audit_link')
    op.execute('DROP TRIGGER chain ON audit_record')
    op.execute('DROP FUNCTION chain_audit_record()')
    op.execute('DROP FUNCTION audit_form(audit_record, bigint, text, text)')
    op.drop_table('audit_record')
