"""The operator's overview: what is well, what waits, and which tenants there are."""

from contextlib import contextmanager

import psycopg

from tests.app.console.html import look
from tests.postgres import OWNER, as_role
from tests.service import ask, publish, running_app


async def test_the_overview_says_whether_all_is_well_and_what_waits(api):
    await publish(api)
    text = (await look(api, "/operator")).text
    assert "Database Fine" in text
    assert "Workers Look at it No heartbeat in the last seconds" in text
    assert "Migrations Fine" in text
    assert "light 0" in text
    assert "No worker has sent a heartbeat" in text
    assert "default 1" in text


async def test_workers_are_listed_with_their_last_heartbeat_and_what_they_run(api, database_url):
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now()), (now() - interval '3 hours')"
        )
    text = (await look(api, "/operator/health")).text
    assert "1 with a heartbeat in the last seconds" in text
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


async def test_the_settings_that_apply_to_every_tenant_are_shown(database_url):
    async with running_app(database_url, min_cell=5, require_privacy={"k": 3.0}, question_budget=1234) as api:
        text = (await look(api, "/operator/settings")).text
    assert "AEGIS_MIN_CELL 5" in text
    assert "AEGIS_REQUIRE_PRIVACY k >= 3" in text
    assert "AEGIS_QUESTION_BUDGET 1,234" in text


async def test_questions_are_listed_with_who_has_asked_most_of_what_it_may(api, database_url):
    head = await publish(api)
    asked = {"measure": "mutual_information", "require": {"k": 2}}
    advice = (await ask(api, head["id"], **asked)).json()
    assert "There are no questions yet" not in (await look(api, "/operator/questions")).text
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO question_budget SELECT entry_version.id, tenant.id, 7 FROM entry_version, tenant"
        )
    text = (await look(api, f"/operator/questions?entry={head['id']}&tenant=default")).text
    assert f"default {head['name']} 1 7 193" in text
    assert f"default {advice['entry']['id'][:8]}, version 1 mutual_information; requires k 2 full" in text
    assert "No question matches" in (await look(api, "/operator/questions?tenant=nobody")).text
    await look(api, "/operator/questions?entry=x", 422)
