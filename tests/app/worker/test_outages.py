"""A moment without the database costs a worker neither an answer nor an attempt, and it comes back soon after."""

import asyncio
import logging

import psycopg

from app.platform.queue import queue
from app.platform.queue.presence import ATTEMPTS
from app.worker import tasks
from tests.app.worker.database import rows
from tests.app.worker.proxy import proxied
from tests.service import ask, publish
from tests.waiting import until

#: Ends a connection that waits for a lock, as a crash or a failover of the database would.
END = (
    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
    "WHERE wait_event_type = 'Lock' AND datname = current_database()"
)

#: Notes, at the end of each transaction, what it has changed, and whether its commit waits for the disk.
NOTE_COMMITS = """
CREATE TABLE commits (id bigserial PRIMARY KEY, change text, is_waited_for bool);
GRANT ALL ON commits, commits_id_seq TO aegis;
CREATE FUNCTION note_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO commits (change, is_waited_for)
    VALUES (concat_ws(' ', tg_table_name, to_jsonb(new) ->> 'status'), current_setting('synchronous_commit') = 'on');
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER note_commit AFTER UPDATE ON advice DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION note_commit();
CREATE CONSTRAINT TRIGGER note_commit AFTER INSERT ON reference DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION note_commit();
"""


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


async def test_what_a_job_leaves_is_on_disk_before_the_job_is_gone(api, worker, database_url, owner_url):
    entry = (await publish(api))["id"]
    await worker.run()
    asked = await ask(api, entry)
    with psycopg.connect(owner_url) as owner:
        owner.execute(f"DELETE FROM reference; {NOTE_COMMITS}")  # so the first job of the advice has to wait for one
    await worker.run()
    assert (await api.get(f"/v1/advice/{asked.json()['id']}")).json()["status"] == "succeeded"
    committed = rows(database_url, "SELECT change, is_waited_for FROM commits ORDER BY id")
    assert ("advice running", False) in committed
    left = [(change, is_waited_for) for change, is_waited_for in committed if change != "advice running"]
    assert {change for change, _ in left} == {"advice queued", "advice succeeded", "reference"}
    assert all(is_waited_for for _, is_waited_for in left)


async def test_a_worker_tries_to_reach_a_lost_database_at_a_steady_pace(database_url, monkeypatch, caplog):
    monkeypatch.setattr(queue, "RECONNECT_TIMEOUT", 0.05)
    caplog.set_level(logging.WARNING, "psycopg.pool")
    async with proxied(database_url) as (proxy, url), queue.queue_app(url).open_async() as app:
        proxy.cut()
        waiting = asyncio.create_task(app.connector.execute_query_one_async("SELECT 1"))
        # If the pauses doubled from a second on, so many attempts would take half an hour.
        await until(lambda: len([one for one in caplog.messages if "error connecting" in one]) > 10)
        waiting.cancel()
