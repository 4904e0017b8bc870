"""The references of a version are split among jobs, and the last job wakes the waiting advice."""

import asyncio
import os
import signal
from contextlib import asynccontextmanager

import psycopg
import pytest

from aegis_advisor import MODEL_VERSION
from app.advice.service import computation, questions
from app.advice.service.computation import compute_references
from app.platform.process.child import ChildProcess
from app.platform.queue.model import Lane
from app.platform.queue.queue import queue_app
from app.worker.tasks import Tasks
from tests.app.worker.database import jobs, rows
from tests.app.worker.shared import shared_entry
from tests.kept import database_at
from tests.service import ask, publish

ATTRIBUTES = 8
LAST_ATTEMPT = "UPDATE procrastinate_jobs SET attempts = 2"


async def nothing():
    pass


class Watched(ChildProcess):
    """The real child process; it counts its chunks, and runs something after each."""

    def __init__(self, meanwhile=nothing, deadline=60):
        super().__init__(computation.__name__, deadline)
        self.meanwhile = meanwhile
        self.chunks = []

    async def run(self, function, *given, **options):
        found = await super().run(function, *given, **options)
        if function is compute_references:
            self.chunks.append([reference.attribute for reference in found])
            await self.meanwhile()
        return found


class Meeting(Watched):
    """After its first chunk, it waits for the other child, which then has a chunk too."""

    def __init__(self, both):
        super().__init__(self.meet)
        self.both = both

    async def meet(self):
        if len(self.chunks) == 1:
            await self.both.wait()


@asynccontextmanager
async def working(database_url, child):
    """Run every queued job, by the real tasks with this child process, or with these by lane."""
    queue = queue_app(database_url)
    children = child if isinstance(child, dict) else dict.fromkeys(Lane, child)
    async with database_at(database_url, pool_size=2) as database, queue.open_async():
        Tasks(database, queue, children, reconstruction_seconds=60).register()
        yield lambda lanes=None: queue.run_worker_async(
            queues=lanes, wait=False, install_signal_handlers=False, listen_notify=False
        )


async def read(api, asked):
    return (await api.get(f"/v1/advice/{asked.json()['id']}")).json()


@pytest.mark.long
async def test_two_workers_share_one_version(api, database_url):
    head = await publish(api, shared_entry(ATTRIBUTES))
    asked = await ask(api, head["id"])
    assert jobs(database_url) == [("reference", "todo")] * ATTRIBUTES
    both = asyncio.Barrier(2)
    children = Meeting(both), Meeting(both)
    async with (
        working(database_url, children[0]) as one,
        working(database_url, children[1]) as other,
        asyncio.timeout(30),
    ):
        await asyncio.gather(one(), other())
    assert sorted(children[0].chunks + children[1].chunks) == [[place] for place in range(ATTRIBUTES)]
    assert (await read(api, asked))["status"] == "succeeded"
    assert jobs(database_url) == []


@pytest.mark.long
async def test_progress_is_told_until_the_answer_is_there(api, database_url):
    head = await publish(api, shared_entry(ATTRIBUTES))
    whole, part = await ask(api, head["id"]), await ask(api, head["id"], attributes=["value 1", "value 3"])
    assert (whole.json()["status"], whole.json()["progress"]) == ("queued", {"done": 0, "total": ATTRIBUTES})
    seen = []

    async def look():
        answers = [await read(api, asked) for asked in (whole, part)]
        seen.append([(answer["progress"] or {}).get("done") for answer in answers])

    async with working(database_url, Watched(look)) as run:
        await run()
    assert [done for done, _ in seen] == list(range(ATTRIBUTES))
    # The smaller question was answered once its own references were stored, before the next chunk.
    assert [done for _, done in seen] == [0, 0, 1, 1, *[None] * (ATTRIBUTES - 4)]
    answer = await read(api, whole)
    assert (answer["status"], answer["progress"]) == ("succeeded", None)
    assert answer["considered"] == 3


async def test_a_small_version_does_not_wait_for_a_large_one(api, database_url):
    await publish(api, shared_entry(ATTRIBUTES))
    head = await publish(api)
    asked = await ask(api, head["id"])
    async with working(database_url, Watched()) as run:
        await run([Lane.LIGHT])
    assert (await read(api, asked))["status"] == "succeeded"
    assert jobs(database_url) == [("reference", "todo")] * ATTRIBUTES


async def test_references_of_another_model_are_no_progress(api, worker, database_url):
    head = await publish(api)
    await worker.run()
    with psycopg.connect(database_url, autocommit=True) as connection:
        for table in ("reference", "reference_array"):
            connection.execute(f"UPDATE {table} SET model_version = 'older'")
    asked = await ask(api, head["id"])
    assert asked.json()["progress"] == {"done": 0, "total": 1}
    assert jobs(database_url) == [("reference", "todo")]
    await worker.run()
    assert (await read(api, asked))["status"] == "succeeded"
    models = rows(database_url, "SELECT DISTINCT model_version FROM reference ORDER BY 1")
    assert models == [(MODEL_VERSION,), ("older",)]


async def test_an_answer_whose_references_are_gone_waits_for_them_again(api, worker, database_url):
    head = await publish(api)
    await worker.run()
    asked = await ask(api, head["id"])
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("DELETE FROM reference")
    seen = []

    async def look():
        seen.append((await read(api, asked))["status"])

    async with working(database_url, Watched(look)) as run:
        await run()
    assert seen == ["queued"]
    assert (await read(api, asked))["status"] == "succeeded"


async def test_an_entry_that_is_deleted_half_way_ends_its_jobs(api, database_url):
    head = await publish(api, shared_entry(ATTRIBUTES))
    asked = await ask(api, head["id"])
    left = iter(range(3))

    async def delete_after_three():
        if next(left) == 2:
            await api.delete(f"/v1/entries/{head['id']}")

    child = Watched(delete_after_three)
    async with working(database_url, child) as run:
        await run()
    assert len(child.chunks) == 3
    assert jobs(database_url) == []
    assert (await api.get(f"/v1/advice/{asked.json()['id']}")).status_code == 404
    for table in ("reference", "reference_array", "advice"):
        assert rows(database_url, f"SELECT count(*) FROM {table}") == [(0,)]


async def test_a_chunk_that_takes_too_long_fails_the_advice_and_is_tried_again(api, worker, database_url):
    head = await publish(api)
    asked = await ask(api, head["id"])
    async with working(database_url, Watched(deadline=1e-6)) as run:
        await run()
    failed = await read(api, asked)
    assert (failed["status"], failed["problem"]["code"], failed["progress"]) == ("failed", "too_heavy", None)
    assert jobs(database_url) == []
    again = await ask(api, head["id"])
    assert (again.json()["id"], again.json()["status"]) == (asked.json()["id"], "queued")
    assert jobs(database_url) == [("reference", "todo")]
    await worker.run()
    assert (await read(api, again))["status"] == "succeeded"


@pytest.mark.long
async def test_a_chunk_that_fails_fails_who_needs_it_and_nobody_else(api, worker, database_url):
    head = await publish(api, shared_entry(ATTRIBUTES))
    whole, part = await ask(api, head["id"]), await ask(api, head["id"], attributes=["value 1"])
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("UPDATE count_table SET data = '\\x00' WHERE attribute = 2")
        connection.execute(LAST_ATTEMPT)
        waiting = asyncio.create_task(ask(api, head["id"], prefer="wait=20"))
        await worker.run()
    failed = await waiting
    assert (failed.status_code, failed.json()["problem"]["code"]) == (200, "internal")
    assert (await read(api, whole))["status"] == "failed"
    assert (await read(api, part))["status"] == "succeeded"
    assert rows(database_url, "SELECT count(*) FROM reference") == [(ATTRIBUTES - 1,)]


async def test_a_chunk_whose_process_dies_is_computed_at_the_next_attempt(api, worker, database_url):
    head = await publish(api)
    asked = await ask(api, head["id"])
    async with working(database_url, Dying()) as run:
        await run()
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("UPDATE procrastinate_jobs SET scheduled_at = NULL")
    await worker.run()
    assert (await read(api, asked))["status"] == "succeeded"
    assert rows(database_url, "SELECT attempts FROM procrastinate_jobs WHERE task_name = 'reference'") == [(2,)]


class Dying(Watched):
    """A child that is killed at its first computation. On a loaded machine the next attempt may come at once."""

    has_died = False

    async def run(self, function, *given, **options):
        if self.has_died:
            return await super().run(function, *given, **options)
        self.has_died = True
        return await ChildProcess.run(self, os.kill, await ChildProcess.run(self, os.getpid), signal.SIGKILL)


class TooSlow(Watched):
    """A child whose computations always take longer than its lane allows."""

    async def run(self, _function, *_given, **_options):
        raise TimeoutError


LANES = (
    "SELECT task_name, queue_name, status::text FROM procrastinate_jobs "
    "WHERE status <> 'succeeded' AND task_name NOT IN ('verdict', 'worth')"
)


@pytest.mark.long
async def test_a_light_job_that_takes_too_long_begins_again_in_the_heavy_lane(api, database_url):
    head = await publish(api)
    asked = await ask(api, head["id"])
    assert rows(database_url, LANES) == [("reference", "light", "todo")]
    async with working(database_url, {Lane.LIGHT: TooSlow(), Lane.HEAVY: Watched()}) as run:
        await run([Lane.LIGHT])
        assert rows(database_url, LANES) == [("reference", "heavy", "todo")]
        await run()
    assert (await read(api, asked))["status"] == "succeeded"
    assert jobs(database_url) == []


async def test_an_answer_that_will_take_long_is_computed_in_the_heavy_lane(api, database_url, monkeypatch):
    monkeypatch.setattr(questions, "LIGHT", 1)
    head = await publish(api)
    asked = await ask(api, head["id"])
    async with working(database_url, Watched()) as run:
        await run([Lane.LIGHT])
        assert (await read(api, asked))["status"] == "queued"
        assert rows(database_url, LANES) == [("advice", "heavy", "todo")]
        await run([Lane.HEAVY])
    assert (await read(api, asked))["status"] == "succeeded"
