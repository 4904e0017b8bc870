"""Metrics: of the API, of the queue and the database behind it, of workers and their processes."""

import json
import re
import time
from contextlib import asynccontextmanager

import anyio
import httpx
import psycopg
import pytest
from prometheus_client import CollectorRegistry
from pydantic import ValidationError

from app.platform.database.probe import APPLICATION, MANY
from app.platform.database.session import Database
from app.platform.process.child import ChildProcess
from app.platform.queue.lanes import JobWatch
from app.platform.queue.model import Lane
from app.platform.telemetry import JobMetrics, PoolCollector, Residuals
from app.settings import Settings
from app.worker.worker import metrics_served, observed
from tests.app.platform.telemetry.scrapes import sample, scraped
from tests.postgres import create_database, drop_database
from tests.running import line_with, serving
from tests.service import Worker, ask, create_key, example_entry, publish, running_app


@asynccontextmanager
async def watched_worker(database_url):
    registry = CollectorRegistry()
    async with Worker.on(database_url, JobWatch(JobMetrics(registry))) as worker:
        yield worker, registry


async def scrape(api):
    answer = await api.get("/metrics")
    assert answer.status_code == 200
    return answer.text


async def test_versions_problems_and_answers_are_counted(database_url):
    key = await create_key(database_url, "owner", "provider")
    async with running_app(database_url) as api, Worker.on(database_url) as worker:
        assert (await api.get("/v1/entries")).status_code == 401
        api.headers.update(key)
        head = await publish(api)
        for k, path in ((5, "/v1/entries/unknown"), (6, f"/v1/entries/{head['id']}")):
            entry = example_entry()
            entry["configurations"][0]["privacy"] = {"k": k}
            changed = await api.put(path, json=entry, params={"accept_small_counts": "true"}, headers={"If-Match": "*"})
        assert changed.json()["version"] == 2
        await ask(api, head["id"])
        await worker.run()
        assert (await ask(api, head["id"], prefer="wait=5")).status_code == 200
        text = await scrape(api)
    assert sample(text, "aegis_published_total", kind="entry") == 1
    assert sample(text, "aegis_published_total", kind="version") == 1
    assert sample(text, "aegis_problems_total", code="unauthenticated") == 1
    assert sample(text, "aegis_problems_total", code="not_found") == 1
    assert sample(text, "aegis_advice_seconds_count", answer="later") == 1
    assert sample(text, "aegis_advice_seconds_count", answer="known") == 1
    assert sample(text, "aegis_workers") == 0
    assert sample(text, "aegis_database_up") == 1
    assert sample(text, "aegis_child_up", child="check_light") == 1


async def test_a_spent_budget_is_counted_by_its_code(database_url):
    owner, other = await create_key(database_url, "owner", "provider"), await create_key(database_url, "x", "consumer")
    async with running_app(database_url, question_budget=1) as api:
        head = await publish(api, example_entry(visibility="all"), **owner)
        api.headers.update(other)
        for measure in ("chi_square", "mutual_information"):
            await ask(api, head["id"], measure=measure)
        assert sample(await scrape(api), "aegis_problems_total", code="budget_spent") == 1


async def test_what_waits_is_counted_by_lane_and_by_how_much_of_it_is_one_tenant_s(api, database_url):
    with psycopg.connect(database_url, autocommit=True) as connection:
        add = "INSERT INTO waiting_job (tenant, lane, task, claim, rank, arguments) SELECT %s, %s, 'advice', i, 0, "
        add += "jsonb_build_object('enqueued_at', %s::float8) FROM generate_series(1, %s) i"
        now = time.time()
        for tenant, lane, age, jobs in (
            ("single", "light", 100, 1),
            ("few", "light", 50, 2),
            ("few too", "light", 70, MANY - 1),
            ("many", "heavy", 30, MANY),
        ):
            connection.execute(add, [tenant, lane, now - age, jobs])
        connection.execute(
            "INSERT INTO procrastinate_jobs (queue_name, task_name, status, args) VALUES "
            "('heavy', 'advice', 'doing', '{}'), ('heavy', 'advice', 'todo', '{\"tenant\": \"many\"}')"
        )
    text = await scrape(api)
    waiting = {
        (lane, size): sample(text, "aegis_queue_waiting_jobs", lane=lane, backlog=size)
        for lane in Lane
        for size in ("one", "few", "many")
    }
    assert waiting == {
        ("light", "one"): 1,
        ("light", "few"): 2 + MANY - 1,
        ("light", "many"): 0,
        ("heavy", "one"): 0,
        ("heavy", "few"): 0,
        ("heavy", "many"): MANY + 1,
    }
    ages = [sample(text, "aegis_queue_oldest_seconds", lane="light", backlog=size) for size in ("one", "few", "many")]
    assert ages == [pytest.approx(100, abs=20), pytest.approx(70, abs=20), 0]
    assert [sample(text, "aegis_queue_running_jobs", lane=lane) for lane in Lane] == [0, 1]
    assert "single" not in text


async def test_a_job_waits_from_its_request_on(api):
    await publish(api)
    text = await scrape(api)
    assert sum(sample(text, "aegis_queue_waiting_jobs", lane=lane, backlog="one") for lane in Lane) == 1
    assert sum(sample(text, "aegis_queue_waiting_jobs", lane=lane, backlog="few") for lane in Lane) == 2
    assert all(0 <= sample(text, "aegis_queue_oldest_seconds", lane=lane, backlog="one") < 60 for lane in Lane)


async def test_scrapes_that_follow_each_other_read_the_queue_once(api, database_url, monkeypatch):
    monkeypatch.setattr("app.platform.database.probe.RECENT", 3600.0)
    query = (
        "SELECT query_start, state_change FROM pg_stat_activity "
        "WHERE application_name = %s AND datname = current_database()"
    )
    with psycopg.connect(database_url, autocommit=True) as connection:
        await scrape(api)
        before = connection.execute(query, [APPLICATION]).fetchall()
        async with anyio.create_task_group() as scrapes:
            for _ in range(50):
                scrapes.start_soon(scrape, api)
        assert connection.execute(query, [APPLICATION]).fetchall() == before


async def test_a_database_that_is_away_is_a_metric(postgres, migrated):
    url = create_database(postgres.url, "away_from_metrics", template=migrated)
    async with running_app(url) as api:
        drop_database(postgres.url, "away_from_metrics")
        text = await scrape(api)
    assert sample(text, "aegis_database_up") == 0
    assert "aegis_queue_waiting_jobs" not in text


async def test_the_pool_shows_who_uses_it_and_who_waits(database_url):
    registry = CollectorRegistry()
    database = Database(database_url, pool_size=1)
    registry.register(PoolCollector(database))

    def shown():
        return [sample(scraped(registry), f"aegis_database_pool_{what}") for what in ("size", "in_use", "waiting")]

    assert shown() == [1, 0, 0]
    async with database.transaction(), anyio.create_task_group() as others:
        others.start_soon(database.ping)
        await anyio.wait_all_tasks_blocked()
        assert shown() == [1, 1, 1]
        others.cancel_scope.cancel()
    assert shown() == [1, 0, 0]
    await database.close()


async def test_jobs_are_counted_by_task_lane_and_outcome(api, database_url):
    head = await publish(api)
    await ask(api, head["id"])
    async with watched_worker(database_url) as (worker, registry):
        await worker.run()
    text = scraped(registry)
    for task, lane in (("reference", "light"), ("advice", "light"), ("verdict", "heavy")):
        assert sample(text, "aegis_jobs_total", task=task, lane=lane, outcome="done") == 1
        assert sample(text, "aegis_job_seconds_count", task=task, lane=lane) == 1
        assert sample(text, "aegis_job_wait_seconds_count", task=task, lane=lane) == 1
        assert 0 <= sample(text, "aegis_job_wait_seconds_sum", task=task, lane=lane) < 60
    assert sample(text, "aegis_reconstruction_residual_ratio_bucket", le="+Inf") == 1


def test_residuals_have_buckets_and_no_sum():
    registry, residuals = CollectorRegistry(), Residuals()
    registry.register(residuals)
    for residual in (0.0, 1.234567e-8, 0.5, float("nan"), float("inf")):
        residuals.observe(residual)
    text = scraped(registry)
    bounds = ("1e-12", "1e-09", "1e-06", "0.1", "1.0", "+Inf")
    values = [sample(text, "aegis_reconstruction_residual_ratio_bucket", le=bound) for bound in bounds]
    assert values == [1, 1, 2, 2, 3, 5]
    assert not re.search("1.23|_sum", text)


async def test_a_worker_serves_its_metrics_where_it_is_told_to(database_url):
    database = Database(database_url)
    children = {lane: ChildProcess("time", deadline=60) for lane in Lane}
    registry = observed(CollectorRegistry(), database, children)
    with metrics_served(Settings(), registry) as port:
        assert port is None
    async with httpx.AsyncClient() as client:
        with metrics_served(Settings(worker_metrics_port=0), registry) as port:
            text = (await client.get(f"http://127.0.0.1:{port}/metrics")).text
        with pytest.raises(httpx.ConnectError):
            await client.get(f"http://127.0.0.1:{port}/metrics")
    assert sample(text, "aegis_child_busy", child="compute_heavy") == 0
    assert sample(text, "aegis_database_pool_size") == 10
    await database.close()


def test_each_worker_that_is_served_has_a_port_of_its_own():
    ports = [Settings(worker_metrics_port=9101).of_worker(number) for number in (1, 2)]
    assert ports == [{"AEGIS_WORKER_METRICS_PORT": "9101"}, {"AEGIS_WORKER_METRICS_PORT": "9102"}]
    assert Settings().of_worker(1) == Settings(worker_metrics_port=0).of_worker(2) == {}


@pytest.mark.processes
@pytest.mark.long
def test_metrics_with_a_port_of_their_own_are_there_alone(database_url):
    with serving(database_url=database_url, log_level="INFO", metrics_port="0") as (client, server):
        port = json.loads(line_with(server, "metrics served"))["port"]
        there = client.base_url.copy_with(port=port)
        assert {path: client.get(path).status_code for path in ("/metrics", "/readyz", "/%6detrics")} == {
            "/metrics": 404,
            "/readyz": 200,
            "/%6detrics": 404,
        }
        assert sample(httpx.get(there.join("/metrics")).text, "aegis_database_up") == 1
        for path in ("/", "/readyz", "/v1/entries", "/metrics/"):
            answer = httpx.get(there.join(path))
            assert (answer.status_code, answer.json()["code"]) == (404, "not_found"), path


def test_the_metrics_cannot_have_the_port_of_the_api():
    with pytest.raises(ValidationError, match="another port"):
        Settings(port=9100, metrics_port=9100)
    assert Settings(port=0, metrics_port=0).metrics_port == 0
