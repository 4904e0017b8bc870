"""The operator's overview: what is well, what waits, and which tenants there are."""

from contextlib import contextmanager

import psycopg

from tests.app.console.html import look
from tests.postgres import OWNER, as_role
from tests.service import publish


async def test_the_overview_says_whether_all_is_well_and_what_waits(api):
    await publish(api)
    text = (await look(api, "/operator")).text
    assert "Database Fine" in text
    assert "Workers Look at it None was heard of in the last seconds" in text
    assert "Migrations Fine" in text
    assert "light 0" in text
    assert "No worker was heard of" in text
    assert "default 1" in text


async def test_workers_are_listed_with_their_last_heartbeat_and_what_they_run(api, database_url):
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now()), (now() - interval '3 hours')"
        )
    text = (await look(api, "/operator/health")).text
    assert "1 heard of in the last seconds" in text
    assert "3 h ago Silent nothing" in text


@contextmanager
def revision(database_url, changed):
    """Let the database have another revision during the block; tests share their databases."""
    with psycopg.connect(as_role(database_url, OWNER), autocommit=True) as owner:
        (own,) = owner.execute("SELECT version_num FROM alembic_version").fetchone()
        owner.execute("UPDATE alembic_version SET version_num = %s", [changed])
        try:
            yield
        finally:
            owner.execute("UPDATE alembic_version SET version_num = %s", [own])


async def test_a_database_of_another_revision_is_named(api, database_url):
    with revision(database_url, "another"):
        text = (await look(api, "/operator/health")).text
    assert "Migrations Broken The database has revision another" in text
