"""Whether the service can answer, and whether workers run, whatever the database does."""

import os
import signal
import time
from contextlib import contextmanager
from pathlib import Path

import anyio
import psycopg
import pytest

from app.platform.database.probe import APPLICATION, HEARD_WITHIN, PATIENCE
from app.platform.queue.model import Lane

LONGEST = 2.0


def heartbeats(database_url, processes, seconds_ago=0):
    """Have these workers' processes sent their last heartbeats this many seconds ago; each sends one for each lane."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        for _ in range(processes * len(Lane)):
            connection.execute(
                "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - make_interval(secs => %s))",
                [seconds_ago],
            )


@contextmanager
def stopped(*processes):
    """Stop these processes during the block, as a machine that hangs."""
    try:
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        yield
    finally:
        for process in processes:
            os.kill(process, signal.SIGCONT)


async def test_workers_that_were_heard_of_lately_are_counted(api, database_url):
    heartbeats(database_url, 2)
    heartbeats(database_url, 3, seconds_ago=10 * HEARD_WITHIN)
    answer = await api.get("/readyz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ready", "workers": 2})
    assert (await api.get("/readyz", params={"require": "workers"})).status_code == 200


async def test_without_a_worker_it_is_degraded_and_not_ready_for_whoever_requires_one(api, database_url):
    heartbeats(database_url, 1, seconds_ago=10 * HEARD_WITHIN)
    answer = await api.get("/readyz")
    assert (answer.status_code, answer.json()) == (200, {"status": "degraded", "workers": 0})
    required = await api.get("/readyz", params={"require": "workers"})
    assert (required.status_code, required.json()["code"]) == (503, "no_worker")
    assert "worker" in required.json()["detail"]
    assert (await api.get("/readyz", params={"require": "luck"})).status_code == 422


def of_the_probe(database_url):
    with psycopg.connect(database_url) as connection:
        query = "SELECT pid FROM pg_stat_activity WHERE application_name = %s AND datname = current_database()"
        [(process,)] = connection.execute(query, [APPLICATION]).fetchall()
        return process


async def test_a_database_that_hangs_is_not_waited_for(api, database_url):
    assert (await api.get("/readyz")).status_code == 200
    answers = {}

    async def ask(path):
        start = time.monotonic()
        answers[path] = await api.get(path)
        assert time.monotonic() - start < LONGEST

    with stopped(of_the_probe(database_url)):
        async with anyio.create_task_group() as asking:
            for path in ("/readyz", "/readyz?require=workers", "/metrics", "/healthz"):
                asking.start_soon(ask, path)
    assert [answer.status_code for answer in answers.values()].count(200) == 2
    for path in ("/readyz", "/readyz?require=workers"):
        assert (answers[path].status_code, answers[path].json()["code"]) == (503, "database_unavailable")
    assert "aegis_database_up 0.0" in answers["/metrics"].text
    assert (await api.get("/readyz")).status_code == 200


async def test_a_server_that_accepts_no_connection_is_not_waited_for(api, postgres, monkeypatch):
    monkeypatch.setattr("app.platform.database.probe.PATIENCE", 0.2)
    with stopped(postmaster(postgres)):
        assert (await api.get("/readyz")).status_code == 503
    monkeypatch.undo()
    assert (await api.get("/readyz")).status_code == 200


def postmaster(postgres):
    with psycopg.connect(postgres.url) as connection:
        [(directory,)] = connection.execute("SHOW data_directory").fetchall()
    return int((Path(directory) / "postmaster.pid").read_text(encoding="utf-8").splitlines()[0])


@pytest.mark.parametrize("path", ["/readyz", "/metrics"])
async def test_a_connection_that_the_server_closes_is_replaced_at_once(api, database_url, path):
    await api.get("/readyz")
    first = of_the_probe(database_url)
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("SELECT pg_terminate_backend(%s)", [first])
    assert (await api.get(path)).status_code == 200
    assert (await api.get("/readyz")).status_code == 200
    assert of_the_probe(database_url) != first


def test_the_answer_is_in_time():
    assert PATIENCE < LONGEST
