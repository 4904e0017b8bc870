import hashlib
import json
import subprocess
import sys

import psycopg
import pytest
from alembic import command
from alembic.script import ScriptDirectory
from procrastinate.schema import SchemaManager

from app.platform.database import migrations
from app.platform.errors import OperatorError
from app.settings import DatabaseUrls
from tests.postgres import create_database, drop_database
from tests.running import COMMAND, environment
from tests.service import ACCEPTED, example_entry, publish, running_app

#: The digest of the schema that the revision of the job queue creates, as in Procrastinate.
JOB_QUEUE_SCHEMA = "c70ec4b400a60ad9592787653aae5ae77ae41bf801d56b5bd2712751a07f2009"


@pytest.fixture
def empty_url(postgres):
    """A database without tables."""
    yield create_database(postgres.url, "to_be_migrated")
    drop_database(postgres.url, "to_be_migrated")


def ask(url, query):
    with psycopg.connect(url) as connection:
        return connection.execute(query).fetchall()


def structure(url):
    """Every column, constraint, index, function and type of the catalogue, by name."""
    found = ask(
        url,
        "SELECT 'column', table_name || '.' || column_name, data_type || is_nullable || coalesce(column_default, '') "
        "FROM information_schema.columns WHERE table_schema = 'public' "
        "UNION SELECT 'constraint', conrelid::regclass || '.' || conname, pg_get_constraintdef(oid) "
        "FROM pg_constraint WHERE connamespace = 'public'::regnamespace "
        "UNION SELECT 'index', indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' "
        "UNION SELECT 'function', oid::regprocedure::text, prosrc FROM pg_proc "
        "WHERE pronamespace = 'public'::regnamespace "
        "UNION SELECT 'type', typname, typtype::text FROM pg_type WHERE typnamespace = 'public'::regnamespace "
        "UNION SELECT 'storage', attrelid::regclass || '.' || attname, attstorage::text FROM pg_attribute "
        "JOIN pg_class ON pg_class.oid = attrelid WHERE relnamespace = 'public'::regnamespace AND attnum > 0 "
        "AND NOT attisdropped",
    )
    return {row for row in found if "alembic_version" not in row[1]}


def revisions(url):
    return list(ScriptDirectory.from_config(migrations.configuration(url)).walk_revisions())


@pytest.mark.long
def test_every_revision_can_be_taken_back_and_made_again(empty_url):
    config = migrations.configuration(empty_url)
    before, first_time = structure(empty_url), {}
    for revision in reversed(revisions(empty_url)):
        command.upgrade(config, revision.revision)
        first_time[revision.revision] = structure(empty_url)
    for revision in revisions(empty_url):
        command.downgrade(config, revision.down_revision or "base")
        assert structure(empty_url) == first_time.get(revision.down_revision, before)
        command.upgrade(config, revision.revision)
        assert structure(empty_url) == first_time[revision.revision]
        command.downgrade(config, revision.down_revision or "base")
    assert structure(empty_url) == before == set()


@pytest.mark.long
def test_texts_that_are_not_published_leave_the_verdicts_that_are_there(empty_url):
    config, listed = migrations.configuration(empty_url), {"values": ["a"], "published": 4, "delivered": 5}
    command.upgrade(config, "f4a9d27c5e13")
    given = json.dumps([{"values": ["Elm Street 7"], "published": None, "delivered": 1}, listed])
    with psycopg.connect(empty_url) as connection:
        connection.execute("SET session_replication_role = replica")  # the request itself does not matter
        connection.execute(
            "INSERT INTO verification (request_id, sha256, size, measured, cells_compared, cells_differing, "
            "differences) "
            "VALUES (gen_random_uuid(), 'a', 1, '{}', 9, 2, %s), (gen_random_uuid(), 'b', 1, '{}', 9, 0, '[]')",
            [given],
        )
    command.upgrade(config, "c8e5b2f7a914")
    assert ask(empty_url, "SELECT differences FROM verification ORDER BY sha256") == [([listed],), ([],)]
    ask(empty_url, "UPDATE verification SET sha256 = NULL, size = NULL WHERE sha256 = 'a' RETURNING 1")
    command.downgrade(config, "f4a9d27c5e13")
    assert ask(empty_url, "SELECT sha256, size FROM verification ORDER BY sha256") == [("0" * 64, 0), ("b", 1)]


def test_the_revisions_are_one_line(empty_url):
    script = ScriptDirectory.from_config(migrations.configuration(empty_url))
    assert (len(script.get_heads()), len(script.get_bases())) == (1, 1)


def test_no_revision_is_drafted_into_an_installed_package(monkeypatch, tmp_path):
    monkeypatch.setattr(migrations, "_LOCATIONS", (tmp_path / "migrations", tmp_path))
    (tmp_path / "migrations").mkdir()
    with pytest.raises(OperatorError, match="checkout"):
        migrations.draft("postgresql:///nowhere", "more")


def test_the_tables_are_what_the_revisions_make(database_url):
    command.check(migrations.configuration(database_url))


def test_a_difference_would_be_found(database_url, owner_url):
    with psycopg.connect(owner_url, autocommit=True) as connection:
        connection.execute("ALTER TABLE entry ADD COLUMN surprise text")
    with pytest.raises(Exception, match="surprise"):
        command.check(migrations.configuration(database_url))


@pytest.mark.long
def test_two_that_migrate_at_once_do_not_disturb_each_other(empty_url):
    commands = [[*COMMAND, "migrate"]] * 2
    running = [subprocess.Popen(one, env=environment(database_url=empty_url)) for one in commands]
    assert [one.wait(timeout=60) for one in running] == [0, 0]
    command.check(migrations.configuration(empty_url))


MIGRATION_AWAITED = (
    "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'SELECT pg_try_advisory_lock%' AND datname = current_database()"
)


@pytest.mark.long
def test_a_migration_waits_for_another(empty_url):
    script = (
        "import sys; from app.platform.database import migrations; from app.settings import DatabaseUrls; "
        "migrations.upgrade(DatabaseUrls(*sys.argv[1:]))"
    )
    with psycopg.connect(empty_url) as other:
        other.execute("SELECT pg_advisory_xact_lock(6120901)")
        with subprocess.Popen([sys.executable, "-c", script, empty_url, empty_url]) as migrating:
            while not ask(empty_url, MIGRATION_AWAITED):
                assert migrating.poll() is None
            assert structure(empty_url) == set()
            other.rollback()
            assert migrating.wait(timeout=60) == 0
    command.check(migrations.configuration(empty_url))


def test_the_job_queue_s_schema_is_that_of_its_revision():
    """If a release of Procrastinate changes its schema, add a revision, and put the new digest here."""
    assert hashlib.sha256(SchemaManager.get_schema().encode()).hexdigest() == JOB_QUEUE_SCHEMA


COMPRESSED = (
    *(f"{table}.data" for table in ("count_table", "configuration_table", "reference_array")),
    *(f"entry_version.{column}" for column in ("schema", "configurations", "configuration_ids")),
    "advice.result",
)


def test_what_is_compressed_already_is_stored_as_it_is(database_url):
    external = {name for kind, name, storage in structure(database_url) if (kind, storage) == ("storage", "e")}
    assert set(COMPRESSED) <= external


async def test_what_searches_read_of_versions_that_are_there_is_what_publishing_stores(database_url, owner_url):
    privacy = ({"k": 5, "t": 0.25}, {"k": 50, "epsilon": 1e-9}, {})
    entry = example_entry(name="first", title="Ünïcode", keywords=["One", "two words"], visibility={"tenants": ["lab"]})
    masked = entry["configurations"][0]["maskings"]
    entry["configurations"] = [
        {"id": f"c{place}", "maskings": masked, "privacy": each} for place, each in enumerate(privacy)
    ]
    async with running_app(database_url) as api:
        await publish(api, example_entry(name="open", visibility="all", title="", keywords=[]))
        head = await publish(api, entry)
        for title in ("Second", "Third"):
            changed = entry | {"title": title}
            await api.put(f"/v1/entries/{head['id']}", json=changed, params=ACCEPTED, headers={"If-Match": "*"})
    searched = (
        "SELECT version_id, entry_id, version, created_at, text, ARRAY(SELECT unnest(facets) ORDER BY 1), "
        "ARRAY(SELECT unnest(seen_by) ORDER BY 1) FROM searched_version ORDER BY 1"
    )
    rows = (searched, "SELECT * FROM offered_privacy ORDER BY version_id, criterion")
    published = [ask(owner_url, query) for query in rows]
    named = "\fhealth\nage"
    first = (1, f"open\n{named}")
    assert [(row[2], row[4]) for row in published[0]] == [first, (3, f"first\nthird\none\ntwo words{named}")]
    *_, columns, epsilon, k, records, t = (row[1:] for row in published[1])
    assert [epsilon, k, t] == [("epsilon", 1e-9, 1e-9), ("k", 5, 50), ("t", 0.25, 0.25)]
    assert [columns, records] == [("columns", 1, 1), ("records", entry["records"], entry["records"])]
    command.downgrade(migrations.configuration(owner_url), "c8e5b2f7a914")
    migrations.upgrade(DatabaseUrls(owner_url, database_url))
    assert [ask(owner_url, query) for query in rows] == published
