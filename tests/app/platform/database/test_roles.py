"""The two roles of the database: what a migration grants the service's own, and who may migrate."""

import psycopg
import pytest
from psycopg import sql

from app.platform.database import migrations
from app.platform.errors import DatabaseUnavailableError
from app.settings import DatabaseUrls
from tests.app.worker.database import rows
from tests.postgres import as_role, create_database, drop_database


@pytest.fixture
def urls(postgres, migrated):
    """A database whose service has a role of its own name, which does not exist yet."""
    url = create_database(postgres.url, "roles", template=migrated)
    yield DatabaseUrls(url, as_role(url, "visitor:secret%40"))
    drop_database(postgres.url, "roles")
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS visitor")


def test_a_migration_makes_the_service_s_role_and_lets_it_use_new_tables(urls):
    migrations.upgrade(urls)
    assert rows(urls.service, "SELECT current_user, count(*) FROM entry") == [("visitor", 0)]
    [(password,)] = rows(urls.owner, "SELECT rolpassword FROM pg_authid WHERE rolname = 'visitor'")
    assert password.startswith("SCRAM-SHA-256$")
    with psycopg.connect(urls.owner) as connection:
        connection.execute("CREATE TABLE later (id int)")
        connection.execute("GRANT UPDATE ON audit_record TO visitor")
    migrations.upgrade(urls)
    assert rows(urls.service, "SELECT * FROM later") == []
    with pytest.raises(psycopg.errors.InsufficientPrivilege), psycopg.connect(urls.service) as connection:
        connection.execute("UPDATE audit_record SET value = ''")


def test_a_column_that_a_later_migration_adds_to_the_log_can_be_filled(urls, monkeypatch):
    migrations.upgrade(urls)
    with psycopg.connect(urls.owner) as connection:
        connection.execute("ALTER TABLE audit_record ADD COLUMN later text")
    added = migrations._ADDED | {"audit_record": (*migrations._ADDED["audit_record"], "later")}
    monkeypatch.setattr(migrations, "_ADDED", added)
    migrations.upgrade(urls)
    inserted = "INSERT INTO audit_record (action, later) VALUES ('entry.delete', 'x') RETURNING later"
    assert rows(urls.service, inserted) == [("x",)]


CHANGES = [
    "REVOKE SELECT ON entry FROM visitor",
    "REVOKE INSERT ON entry FROM visitor",
    "REVOKE DELETE ON procrastinate_jobs FROM visitor",
    "REVOKE INSERT (value) ON audit_record FROM visitor",
    "REVOKE USAGE ON SEQUENCE procrastinate_jobs_id_seq FROM visitor",
    "REVOKE USAGE ON SCHEMA public FROM visitor, PUBLIC",
    "GRANT INSERT (at) ON audit_record TO visitor",
    "GRANT UPDATE (value) ON audit_record TO visitor",
    "GRANT INSERT ON audit_link TO visitor",
    "GRANT DELETE ON audit_head TO visitor",
    "GRANT TRUNCATE ON audit_key TO visitor",
    "GRANT TRIGGER ON audit_key TO visitor",
    "GRANT UPDATE ON alembic_version TO visitor",
    "GRANT UPDATE ON SEQUENCE audit_record_id_seq TO visitor",
]


def test_rights_that_the_service_lacks_or_must_not_have_are_set_right_and_others_left_alone(urls):
    migrations.upgrade(urls)
    given = _rights(urls.owner)
    for change in CHANGES:
        with psycopg.connect(urls.owner) as connection:
            connection.execute(sql.SQL(change))
        assert _rights(urls.owner) != given, change
        migrations.grant(urls)
        assert _rights(urls.owner) == given, change


def test_rights_that_are_right_are_not_granted_again(urls):
    migrations.upgrade(urls)
    versions = "SELECT xmin::text FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY oid"
    before = rows(urls.owner, versions)
    migrations.grant(urls)
    assert rows(urls.owner, versions) == before


def _rights(url):
    """The rights of visitor in the schema, its tables, their columns, and its sequences."""
    return rows(
        url,
        """
        SELECT oid::regclass::text, one.privilege_type
        FROM pg_class, aclexplode(relacl) AS one
        WHERE relnamespace = 'public'::regnamespace AND grantee = 'visitor'::regrole
        UNION SELECT attrelid::regclass || '.' || attname, one.privilege_type
        FROM pg_attribute, aclexplode(attacl) AS one WHERE grantee = 'visitor'::regrole
        UNION SELECT 'schema', 'USAGE' WHERE has_schema_privilege('visitor', 'public', 'USAGE')
        ORDER BY 1, 2
        """,
    )


def test_a_role_that_cannot_be_made_is_named(urls):
    migrations.upgrade(urls)
    poor = DatabaseUrls(urls.service, as_role(urls.owner, "nobody"))
    with pytest.raises(DatabaseUnavailableError, match="nobody does not exist, and visitor may not create it"):
        migrations.grant(poor)


def test_a_role_that_does_not_own_the_database_cannot_migrate_it(postgres, urls):
    migrations.upgrade(urls)
    url = create_database(postgres.url, "unmigrated")
    try:
        own = as_role(url, "visitor")
        with pytest.raises(DatabaseUnavailableError, match="AEGIS_OWNER_DATABASE_URL"):
            migrations.upgrade(DatabaseUrls(own, own))
    finally:
        drop_database(postgres.url, "unmigrated")
