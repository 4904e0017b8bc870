"""Migrations leave what the versions need that run already, and block nobody for long."""

import re
import shutil
import threading
from contextlib import contextmanager

import psycopg
import pytest
from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, event
from sqlalchemy.engine import Engine
from sqlalchemy.pool import NullPool

from app.platform.database import migrations
from app.platform.database.migrations import (
    AHEAD,
    BEHIND,
    DatabaseUrls,
    configuration,
    mismatch,
    newest_revision,
    refuse_mismatch,
    upgrade,
)
from app.platform.database.session import dialect_url
from app.platform.errors import DatabaseUnavailableError, SchemaMismatchError
from tests.app.platform.database.schema_promises import Schema, broken
from tests.postgres import SERVICE, as_role, create_database, drop_database
from tests.previous import ROOT
from tests.service import running_app

#: The revision from which on versions run side by side.
FIRST = "4e9c7a2d5b18"


@pytest.fixture
def copy(postgres, migrated):
    """A migrated database whose schema the test changes; its URL for the owner."""
    yield create_database(postgres.url, "expanded", template=migrated)
    drop_database(postgres.url, "expanded")


def schema(url):
    with psycopg.connect(url) as connection:
        return Schema.of(connection)


def broken_by(url, *changes):
    """What these changes would break; they are taken back."""
    with psycopg.connect(url) as connection:
        before = Schema.of(connection)
        for change in changes:
            connection.execute(change)
        after = Schema.of(connection)
        connection.rollback()
    return broken(before, after)


def urls_of(url):
    return DatabaseUrls(url, as_role(url, SERVICE))


def execute(url, statement):
    with psycopg.connect(url) as connection:
        return connection.execute(statement)


def compatible(url):
    with psycopg.connect(url) as connection:
        return {revision for (revision,) in connection.execute("SELECT revision FROM compatible_revision")}


def revisions_since(first):
    script = ScriptDirectory.from_config(configuration(""))
    return list(reversed(list(script.iterate_revisions("head", first))))


@contextmanager
def statements():
    """The statements that run in the block, each in one line."""
    seen = []

    def note(_, __, statement, *___):
        seen.append(" ".join(statement.split()))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def blocking_indexes(seen, tables):
    """The statements that build indexes of these tables while nobody can write to them."""
    built = re.compile(r"CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY).* ON (?:ONLY )?\"?(\w+)")
    return [statement for statement in seen if (made := built.match(statement)) and made[1] in tables]


def test_an_index_that_blocks_a_table_in_use_is_found(copy):
    with statements() as seen, create_engine(dialect_url(copy), poolclass=NullPool).begin() as connection:
        connection.exec_driver_sql("CREATE INDEX one ON advice (status)")
        connection.exec_driver_sql("CREATE TABLE place (id int)")
        connection.exec_driver_sql("CREATE INDEX two ON place (id)")
    assert blocking_indexes(seen, {"advice", "entry"}) == ["CREATE INDEX one ON advice (status)"]


def test_each_revision_leaves_what_the_one_before_needs_or_says_that_it_does_not(copy):
    config = configuration(copy)
    command.downgrade(config, FIRST)
    assert revisions_since(FIRST)
    for revision in revisions_since(FIRST):
        before = schema(copy)
        with statements() as seen:
            command.upgrade(config, revision.revision)
        assert blocking_indexes(seen, before.tables) == []
        if getattr(revision.module, "ends_compatibility", False):
            assert compatible(copy) == {revision.revision}
            continue
        widened = {f"{name} is a new rule" for name in getattr(revision.module, "widened_rules", ())}
        assert broken(before, schema(copy)) <= widened, revision
        assert {revision.revision, revision.down_revision} <= compatible(copy)


BREAKING = [
    ("ALTER TABLE entry DROP COLUMN released_version", "entry.released_version is gone"),
    ("ALTER TABLE entry RENAME COLUMN name TO title", "entry.name is gone"),
    ("DROP TABLE lease", "lease.id is gone"),
    ("ALTER TABLE question RENAME TO asked", "question.id is gone"),
    ("ALTER TABLE entry ALTER COLUMN latest_version TYPE bigint", "entry.latest_version has another type"),
    ("ALTER TABLE entry ADD COLUMN place text NOT NULL", "entry.place must be given"),
    ("ALTER TABLE entry ALTER COLUMN created_at DROP DEFAULT", "entry.created_at must be given"),
    ("ALTER TABLE entry ALTER COLUMN released_version SET NOT NULL", "entry.released_version must be given"),
    ("ALTER TABLE entry ADD CONSTRAINT short CHECK (length(name) < 9)", "entry.short is a new rule"),
    ("CREATE UNIQUE INDEX once ON entry (name)", "entry.once is a new rule"),
    ("DROP FUNCTION ngrams(text, integer) CASCADE", "ngrams(text,integer) is gone"),
    ("ALTER TABLE tenant DROP CONSTRAINT uq_tenant_name", "tenant.uq_tenant_name is gone"),
    ("ALTER TABLE lease DROP CONSTRAINT pk_lease", "lease.pk_lease is gone"),
    (
        "ALTER TABLE count_table DROP CONSTRAINT fk_count_table_version_id",
        "count_table.fk_count_table_version_id is gone",
    ),
    (
        "DROP INDEX procrastinate_jobs_queueing_lock_idx_v1",
        "procrastinate_jobs.procrastinate_jobs_queueing_lock_idx_v1 is gone",
    ),
    ("DROP TRIGGER forget_differences ON data_request", "data_request.forget_differences is gone"),
    ("ALTER TABLE audit_record DISABLE TRIGGER chain", "audit_record.chain is gone"),
    (
        "ALTER TABLE entry ALTER COLUMN created_at DROP NOT NULL, ALTER COLUMN created_at DROP DEFAULT",
        "entry.created_at has no default any more",
    ),
]


def test_a_change_that_breaks_versions_that_run_is_found(owner_url):
    found = {}
    with psycopg.connect(owner_url) as connection:
        before = Schema.of(connection)
        for change, _ in BREAKING:
            connection.execute(change)
            found[change] = broken(before, Schema.of(connection))
            connection.rollback()
    assert [(change, found[change]) for change, consequence in BREAKING if consequence not in found[change]] == []


def test_a_change_that_only_adds_breaks_nothing(owner_url):
    changes = (
        "CREATE TABLE place (id int PRIMARY KEY, name text NOT NULL)",
        "ALTER TABLE entry ADD COLUMN place_id int REFERENCES place, ADD COLUMN size int NOT NULL DEFAULT 0",
        "ALTER TABLE entry ALTER COLUMN latest_version DROP NOT NULL",
        "CREATE INDEX ix_entry_size ON entry (size)",
        "ALTER TABLE advice DROP CONSTRAINT ck_advice_status",
    )
    assert broken_by(owner_url, *changes) == set()


NEXT = """
revision, down_revision, branch_labels, depends_on = "ffffffffffff", "{before}", None, None
ends_compatibility = {ends}


def upgrade() -> None: ...


def downgrade() -> None: ...
"""


@pytest.mark.parametrize("ends", [False, True])
def test_a_revision_that_breaks_older_versions_takes_them_off_the_list(copy, tmp_path, ends):
    places, newest = tmp_path / "migrations", newest_revision()
    shutil.copytree(ROOT / "migrations", places)
    (places / "versions" / "next.py").write_text(NEXT.format(before=newest, ends=ends))
    config, before = configuration(copy), compatible(copy)
    config.set_main_option("script_location", str(places))
    command.upgrade(config, "head")
    assert compatible(copy) == {"ffffffffffff"} | (set() if ends else before)
    command.downgrade(config, newest)
    assert newest in compatible(copy)
    assert "ffffffffffff" not in compatible(copy)


def test_a_schema_that_is_older_or_too_new_does_not_fit():
    newest = newest_revision()
    assert mismatch([newest], "of a newer version") is None
    assert mismatch([FIRST], FIRST) == BEHIND
    assert mismatch([], None) == BEHIND
    assert mismatch(["of a newer version"], "of a newer version") == AHEAD


def test_a_database_that_a_newer_version_has_migrated_is_left_alone(copy):
    execute(copy, "UPDATE alembic_version SET version_num = 'ffffffffffff'")
    execute(copy, "INSERT INTO compatible_revision VALUES ('ffffffffffff')")
    before = schema(copy)
    upgrade(urls_of(copy))
    assert schema(copy) == before
    execute(copy, "DELETE FROM compatible_revision WHERE revision <> 'ffffffffffff'")
    with pytest.raises(SchemaMismatchError, match="newer version"):
        upgrade(urls_of(copy))


def test_whoever_cannot_reach_the_database_learns_that():
    with pytest.raises(DatabaseUnavailableError):
        refuse_mismatch("postgresql://aegis@127.0.0.1:1/aegis")


def test_waiting_for_a_migration_ends_after_so_many_seconds(copy):
    command.downgrade(configuration(copy), FIRST)
    with pytest.raises(SchemaMismatchError, match="aegis-server migrate"):
        migrations.wait(copy, 0)


@pytest.fixture
def locked(copy):
    """A long transaction that uses a table which the next migration needs."""
    command.downgrade(configuration(copy), FIRST)
    with psycopg.connect(copy) as using:
        using.execute("LOCK TABLE alembic_version IN ACCESS EXCLUSIVE MODE")
        yield using


@pytest.mark.usefixtures("locked")
def test_a_migration_gives_up_soon_so_that_others_can_go_on(copy, monkeypatch):
    monkeypatch.setattr(migrations, "TRIES", 1)
    monkeypatch.setattr(migrations, "PAUSE", 0.0)
    with pytest.raises(DatabaseUnavailableError, match="long transactions"):
        upgrade(urls_of(copy))


@pytest.mark.long
def test_a_migration_goes_on_once_the_long_transactions_have_ended(copy, locked, monkeypatch):
    waited = threading.Event()
    monkeypatch.setattr(migrations.time, "sleep", lambda _: waited.set())
    migrating = threading.Thread(target=upgrade, args=[urls_of(copy)])
    migrating.start()
    assert waited.wait(60)
    locked.rollback()
    migrating.join(60)
    assert not migrating.is_alive()
    refuse_mismatch(copy)


@pytest.mark.usefixtures("_one_loop")
async def test_on_an_older_schema_the_api_is_not_ready_and_answers_503_instead_of_500(copy):
    command.downgrade(configuration(copy), "c8e5b2f7a914")
    async with running_app(copy) as api:
        answers = [await api.get(path) for path in ("/readyz", "/v1/entries")]
        assert [(one.status_code, one.json()["code"]) for one in answers] == [(503, "schema_mismatch")] * 2
        assert "aegis-server migrate" in answers[0].json()["detail"]
        assert (await api.get("/healthz")).status_code == 200
        upgrade(urls_of(copy))
        assert (await api.get("/readyz")).status_code == 200
        assert (await api.get("/v1/entries")).status_code == 200
