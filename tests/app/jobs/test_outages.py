"""A moment without the database costs a worker neither an answer nor an attempt, and it comes back soon after."""

import asyncio
import logging

import psycopg

from app.catalog import queue
from app.catalog.presence import ATTEMPTS
from app.jobs import tasks
from tests.app.jobs.database import rows, until
from tests.app.jobs.proxy import proxied
from tests.service import ask, publish

#: Ends a connection that waits for a lock, as a crash or a failover of the database would.
END = (
    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
    "WHERE wait_event_type = 'Lock' AND datname = current_database()"
)


async def test_an_answer_outlasts_a_database_that_goes_away_more_often_than_a_job_may_fail(
    api, worker, database_url, monkeypatch
):
    monkeypatch.setattr(tasks, "_PAUSE", 0.0)
    asked = await ask(api, (await publish(api))["id"])
    with psycopg.connect(database_url) as holder:
        holder.execute("LOCK TABLE advice IN EXCLUSIVE MODE")
        running = asyncio.create_task(worker.run())
        for _ in range(ATTEMPTS + 1):
            assert await until(lambda: rows(database_url, END)) == [(True,)]
    await running
    answer = await api.get(f"/v1/advice/{asked.json()['id']}")
    assert answer.json()["status"] == "succeeded"


async def test_a_worker_tries_to_reach_a_lost_database_at_a_steady_pace(database_url, monkeypatch, caplog):
    monkeypatch.setattr(queue, "RECONNECT", 0.05)
    caplog.set_level(logging.WARNING, "psycopg.pool")
    async with proxied(database_url) as (proxy, url), queue.queue_app(url).open_async() as app:
        proxy.cut()
        waiting = asyncio.create_task(app.connector.execute_query_one_async("SELECT 1"))
        # If the pauses doubled from a second on, so many attempts would take half an hour.
        await until(lambda: len([one for one in caplog.messages if "error connecting" in one]) > 10)
        waiting.cancel()
