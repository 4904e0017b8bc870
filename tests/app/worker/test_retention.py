"""What is kept only for some time."""

import asyncio
import re
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from procrastinate.jobs import Status
from sqlalchemy import text

from app.platform.database.session import Database
from app.platform.queue.queue import CEILING, queue_app
from app.requests.service.data_requests import DataRequestWork
from app.retention import _DELIVERIES, _OLD_ADVICE, _SESSIONS, PART, Retention
from app.tenants.model import TenantPolicy
from app.worker.worker import sweep
from tests.service import ACCEPTED, Worker, ask, create_key, example_entry, publish, running_app, tenants_of


@pytest.fixture
async def swept(database_url):
    """Sweeps by these rules, and says how much was deleted."""
    database = Database(database_url, pool_size=1)

    async def by(**rules):
        return await sweep(database, queue_app(database_url), Retention(**rules))

    yield by
    await database.close()


def execute(database_url, statement):
    with psycopg.connect(database_url, autocommit=True) as connection:
        return connection.execute(statement)


def versions(database_url):
    with psycopg.connect(database_url) as connection:
        rows = connection.execute("SELECT version FROM entry_version ORDER BY version").fetchall()
    return [version for (version,) in rows]


async def replaced(api, head, title, **headers):
    answer = await api.put(
        f"/v1/entries/{head['id']}",
        json=example_entry(title=title),
        headers={"If-Match": "*"} | headers,
        params=ACCEPTED,
    )
    assert answer.status_code == 200, answer.text


async def test_old_advice_is_deleted_once_it_is_finished(api, database_url, swept):
    head = await publish(api)
    asked = {measure: (await ask(api, head["id"], measure=measure)).json()["id"] for measure in ("g3", "chi_square")}
    async with Worker.on(database_url) as worker:
        await worker.run()
    waiting = (await ask(api, head["id"], measure="mutual_information")).json()["id"]
    execute(database_url, "UPDATE advice SET created_at = created_at - interval '11 days'")
    fresh = (await ask(api, head["id"], measure="g3")).json()["id"]
    assert fresh == asked["g3"]
    assert await swept() == 0
    assert await swept(advice_days=12) == 0
    assert await swept(advice_days=10) == 2
    statuses = [(await api.get(f"/v1/advice/{one}")).status_code for one in (*asked.values(), waiting)]
    assert statuses == [404, 404, 200]
    assert (await ask(api, head["id"], measure="g3")).status_code == 202  # it is computed again


async def test_the_latest_versions_stay(api, database_url, swept):
    head = await publish(api)
    for number in range(2, 6):
        await replaced(api, head, str(number))
    assert await swept(versions=9) == 0
    assert await swept(versions=2) == 3
    assert versions(database_url) == [4, 5]
    assert (await api.get(f"/v1/entries/{head['id']}", params={"version": 3})).status_code == 404
    assert await swept(versions=1) == 1
    assert (await api.get(f"/v1/entries/{head['id']}")).json()["version"] == 5


async def test_the_version_that_others_see_stays_while_newer_ones_await_their_sign_off(database_url, swept):
    provider = await create_key(database_url, "owner", "provider")
    async with running_app(database_url) as api:
        head = await publish(api, **provider)
        async with tenants_of(database_url) as tenants:
            await tenants.set_policy("owner", TenantPolicy(demands_sign_off=True))
        for number in range(2, 6):
            await replaced(api, head, str(number), **provider)
    assert await swept(versions=1) == 3
    assert versions(database_url) == [1, 5]


async def test_a_version_in_use_is_left_for_the_next_time(api, database_url, swept):
    head = await publish(api)
    await replaced(api, head, "second")
    with psycopg.connect(database_url) as using:
        using.execute("SELECT id FROM entry_version WHERE version = 1 FOR KEY SHARE")
        assert await swept(versions=1) == 0
    assert await swept(versions=1) == 1


async def test_one_worker_at_a_time(api, database_url, swept):
    await replaced(api, await publish(api), "second")
    with psycopg.connect(database_url) as other:
        other.execute("SELECT pg_advisory_xact_lock(hashtextextended('retention', 0))")
        assert await swept(versions=1) == 0
    assert await swept(versions=1) == 1


async def test_answers_to_idempotency_keys_go_after_a_day(api, database_url, swept):
    headers = {"Idempotency-Key": "0123456789abcdef"}
    await api.post("/v1/entries", json=example_entry(), params=ACCEPTED, headers=headers)
    await swept()
    assert execute_count(database_url) == 1
    execute(database_url, "UPDATE idempotency_key SET created_at = created_at - interval '25 hours'")
    await swept()
    assert execute_count(database_url) == 0


def execute_count(database_url):
    with psycopg.connect(database_url) as connection:
        return connection.execute("SELECT count(*) FROM idempotency_key").fetchone()[0]


@pytest.fixture
async def old_deliveries(api, database_url):
    """Two parts and one more of deliveries that have been kept long enough."""
    asked = {"url": "https://hooks.example/", "events": ["entry.published"]}
    assert (await api.post("/v1/webhooks", json=asked)).status_code == 201
    execute(
        database_url,
        "INSERT INTO delivery (webhook_id, type, data, created_at) SELECT id, 'ping', '{}', now() - interval '31 days' "
        f"FROM webhook, generate_series(1, {2 * PART + 1})",
    )
    return 2 * PART + 1


async def test_all_old_deliveries_are_deleted_however_many_there_are(old_deliveries, swept):
    assert await swept() == old_deliveries


async def test_deliveries_that_somebody_changes_are_left_for_the_next_time(old_deliveries, database_url, swept):
    with psycopg.connect(database_url) as changing:
        changing.execute("SELECT 1 FROM delivery LIMIT 2 FOR UPDATE")
        assert await asyncio.wait_for(swept(), 10) == old_deliveries - 2
    assert await swept() == 2


async def fail_all_jobs(database_url):
    """End all jobs as Procrastinate does when the last attempt of each failed."""
    queue = queue_app(database_url)
    async with queue.open_async():
        for (job,) in execute(database_url, "SELECT id FROM procrastinate_jobs WHERE status = 'todo'").fetchall():
            await queue.job_manager.finish_job_by_id_async(job, Status.FAILED, delete_job=False)


async def test_what_failed_jobs_left_undone_is_done_again(api, database_url, swept):
    head = await publish(api)
    asked = await ask(api, head["id"])
    await fail_all_jobs(database_url)
    undone = execute(database_url, "SELECT count(*) FROM procrastinate_jobs").fetchone()[0]
    assert undone >= 2  # references and the verdict
    async with Worker.on(database_url) as worker:
        await worker.run()
        assert (await api.get(f"/v1/advice/{asked.json()['id']}")).json()["status"] == "queued"
        assert await swept() == undone
        await worker.run()
    assert (await api.get(f"/v1/advice/{asked.json()['id']}")).json()["status"] == "succeeded"
    assert execute(database_url, "SELECT count(*) FROM verdict").fetchone() == (1,)
    assert await swept() == 0


async def test_an_advice_that_failed_stays_so_when_its_job_is_done_again(api, database_url, swept):
    head = await publish(api)
    async with Worker.on(database_url) as worker:
        await worker.run()
        asked = await ask(api, head["id"])
        execute(
            database_url, """UPDATE advice SET status = 'failed', problem = '{"code": "internal", "detail": "."}'"""
        )
        await fail_all_jobs(database_url)
        assert await swept() == 1
        await worker.run()
    assert (await api.get(f"/v1/advice/{asked.json()['id']}")).json()["status"] == "failed"


async def test_jobs_that_failed_go_after_a_week_with_their_events_and_others_stay(database_url, swept):
    execute(
        database_url,
        "INSERT INTO procrastinate_jobs (queue_name, task_name, status) "
        "SELECT 'heavy', status, status::procrastinate_job_status "
        "FROM unnest(ARRAY['failed', 'aborted', 'cancelled', 'todo', 'doing']) AS status",
    )
    execute(
        database_url, "INSERT INTO procrastinate_events (job_id, type) SELECT id, 'started' FROM procrastinate_jobs"
    )
    assert await swept() == 0
    execute(database_url, "UPDATE procrastinate_events SET at = at - interval '8 days'")
    assert await swept() == 3
    kept = execute(database_url, "SELECT task_name FROM procrastinate_jobs ORDER BY 1").fetchall()
    assert [name for (name,) in kept] == ["doing", "todo"]
    events = "SELECT count(DISTINCT job_id) FROM procrastinate_events"
    assert execute(database_url, events).fetchone() == (2,)


async def test_all_sessions_that_have_expired_go(database_url, swept):
    execute(
        database_url,
        "INSERT INTO console_session (token_hash, issuer, tenant, roles, subject, expires_at) "
        "SELECT decode(md5(number::text), 'hex'), 'i', 't', '{consumer}', 's', now() + number * interval '1 h' "
        f"FROM generate_series(-{PART}, 100) AS number",
    )
    assert await swept() == PART + 1


#: What sweeps look for, and the index by which they find it.
INDEXES = {
    _OLD_ADVICE: "ix_advice_finished",
    _DELIVERIES: "ix_delivery_created_at",
    _SESSIONS: "ix_console_session_expires_at",
}


@pytest.mark.parametrize(("statement", "index"), INDEXES.items(), ids=INDEXES.values())
async def test_what_is_old_is_found_by_an_index(database, statement, index):
    given = {"age": timedelta(days=9), "part": PART, "open": ["requested"]}
    known = {name: value for name, value in given.items() if f":{name}" in statement.text}
    async with database.transaction() as session:
        await session.execute(text("SET LOCAL enable_seqscan = off"))
        plan = (await session.execute(text(f"EXPLAIN {statement.text}"), known)).scalars().all()
    assert any(index in line for line in plan), "\n".join(plan)


async def test_everything_in_the_database_is_said_to_go_or_to_stay(owner_url):
    operations = (Path(__file__).parents[3] / "docs/operations.md").read_text(encoding="utf-8")
    section = operations.partition("## How long things are kept")[2].partition("\n## ")[0]
    said = set(re.findall(r"`(\w+)`", section))
    tables = execute(owner_url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    assert {name for (name,) in tables} - said == set()


async def test_a_line_whose_tenant_has_no_job_in_the_queue_goes_on(api, database_url, swept):
    await publish(api)
    execute(
        database_url,
        "INSERT INTO waiting_job (tenant, lane, task, claim, rank, arguments) "
        "SELECT 'default', 'light', 'advice', number::text, 0, '{}' FROM generate_series(1, 9) AS number",
    )
    execute(database_url, "DELETE FROM procrastinate_jobs")  # as if they had been those of another tenant
    assert await swept() == 0
    assert execute(database_url, "SELECT count(*) FROM procrastinate_jobs WHERE queue_name = 'light'").fetchone() == (
        CEILING,
    )


async def test_a_fault_of_one_part_of_a_sweep_keeps_no_other(api, swept, monkeypatch):
    async def broken(*_):
        raise RuntimeError

    monkeypatch.setattr(DataRequestWork, "settle", broken)
    await replaced(api, await publish(api), "second")
    assert await swept(versions=1) == 1
