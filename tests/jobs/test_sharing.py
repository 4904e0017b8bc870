"""The references of one version are shared out among jobs, and the last of them wakes the advice that waits."""

import asyncio
import os
import signal
from contextlib import asynccontextmanager

import psycopg
import pytest

from app.advisor import MODEL_VERSION
from app.catalog.queue import queue_app
from app.catalog.session import Database
from app.child_process import ChildProcess
from app.domain.advice import AdviceQuestion, Problem
from app.domain.callers import Caller, Role
from app.factory import Factory
from app.jobs.tasks import Tasks
from app.services import computation
from app.services.computation import compute_references
from tests.jobs.database import jobs, rows, until
from tests.jobs.shared import shared_entry
from tests.service import ask, publish

OPERATOR = Caller("default", Role.OPERATOR)
ATTRIBUTES = 8
LOCK_AWAITED = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
LAST_ATTEMPT = "UPDATE procrastinate_jobs SET attempts = 2"


async def nothing():
    pass


class Watched(ChildProcess):
    """The real child process; it counts its chunks, and something happens after each is computed."""

    def __init__(self, meanwhile=nothing, deadline=60):
        super().__init__(computation.__name__, deadline)
        self.meanwhile = meanwhile
        self.chunks = []

    async def run(self, function, *given):
        found = await super().run(function, *given)
        if function is compute_references:
            self.chunks.append([reference.attribute for reference in found])
            await self.meanwhile()
        return found


class Meeting(Watched):
    """After its first chunk it waits for the other, which has one in hand then, too."""

    def __init__(self, both):
        super().__init__(self.meet)
        self.both = both

    async def meet(self):
        if len(self.chunks) == 1:
            await self.both.wait()


@asynccontextmanager
async def working(database_url, child):
    """Runs every queued job when called; the real tasks, with this child process."""
    database, queue = Database(database_url, pool_size=2), queue_app(database_url)
    Tasks(database, queue, child).register()
    async with queue.open_async():
        yield lambda: queue.run_worker_async(wait=False, install_signal_handlers=False, listen_notify=False)
    await database.close()


@asynccontextmanager
async def services(database, database_url):
    """The services of one transaction that the test holds open."""
    async with database.transaction() as session:
        yield Factory(session, queue_app(database_url))


async def read(api, asked):
    return (await api.get(f"/v1/advice/{asked.json()['id']}")).json()


async def computed(database, database_url, version_id, places):
    """The references of some attributes, computed and not stored."""
    async with services(database, database_url) as factory:
        given = await factory.reconstructing().load(version_id, places)
    return compute_references(given)


async def all_but_the_last_two(database, database_url, version_id):
    """Store the references of a heavy version but for the last two attributes'; the two that are left."""
    places = list(range(ATTRIBUTES))
    one = (await computed(database, database_url, version_id, places[:1]))[0]
    same = [one.__class__(place, one.arrays, one.information_bound, one.certificate) for place in places[:-2]]
    async with services(database, database_url) as factory:
        await factory.reconstructing().store(version_id, places[:-2], same)
    return [await computed(database, database_url, version_id, [place]) for place in places[-2:]]


def version_of(database_url):
    return rows(database_url, "SELECT id FROM entry_version")[0][0]


def without_jobs(database_url):
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("DELETE FROM procrastinate_jobs")


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
    # The smaller question was answered as soon as its own references were there, before the next chunk.
    assert [done for _, done in seen] == [0, 0, 1, 1, *[None] * (ATTRIBUTES - 4)]
    answer = await read(api, whole)
    assert (answer["status"], answer["progress"]) == ("succeeded", None)
    assert answer["considered"] == 3


async def test_a_small_version_overtakes_a_large_one(api, database_url):
    await publish(api, shared_entry(ATTRIBUTES))
    head = await publish(api)
    asked = await ask(api, head["id"])
    statuses = []

    async def look():
        statuses.append((await read(api, asked))["status"])

    async with working(database_url, Watched(look)) as run:
        await run()
    assert statuses == ["queued", *["succeeded"] * ATTRIBUTES]


@pytest.mark.parametrize("first", [0, 1])
async def test_of_two_last_chunks_at_once_one_wakes_the_advice(api, database, database_url, first):
    head = await publish(api, shared_entry(ATTRIBUTES))
    without_jobs(database_url)
    version_id = version_of(database_url)
    last = await all_but_the_last_two(database, database_url, version_id)
    asked = await ask(api, head["id"])
    without_jobs(database_url)

    async def store(which):
        async with services(database, database_url) as factory:
            await factory.reconstructing().store(version_id, [last[which][0].attribute], last[which])

    async with services(database, database_url) as factory:
        await factory.reconstructing().store(version_id, [last[first][0].attribute], last[first])
        other = asyncio.create_task(store(1 - first))
        await until(lambda: rows(database_url, LOCK_AWAITED))
        assert jobs(database_url) == []
    await other
    assert jobs(database_url) == [("advice", "todo")]
    assert (await read(api, asked))["progress"] == {"done": ATTRIBUTES, "total": ATTRIBUTES}


async def test_a_question_asked_while_the_last_chunk_is_stored_has_one_job(api, worker, database, database_url):
    head = await publish(api)
    without_jobs(database_url)
    version_id = version_of(database_url)
    references = await computed(database, database_url, version_id, [0])
    async with services(database, database_url) as factory:
        await factory.reconstructing().store(version_id, [0], references)
        asking = asyncio.create_task(ask(api, head["id"]))
        await until(lambda: rows(database_url, LOCK_AWAITED))
    asked = await asking
    assert jobs(database_url) == [("advice", "todo")]
    await worker.run()
    assert (await read(api, asked))["status"] == "succeeded"


async def test_the_last_chunk_stored_while_a_question_is_asked_wakes_it(api, worker, database, database_url):
    head = await publish(api)
    version_id = version_of(database_url)
    async with services(database, database_url) as factory:
        found = await factory.cataloguing().head(OPERATOR, head["id"])
        asked = await factory.advising().ask(found, AdviceQuestion("g3"))
        working = asyncio.create_task(worker.run())
        await until(lambda: rows(database_url, LOCK_AWAITED))
        assert jobs(database_url) == [("reference", "doing")]
    await working
    assert rows(database_url, "SELECT id::text, status FROM advice") == [(asked.id, "succeeded")]
    assert rows(database_url, "SELECT version_id FROM reference") == [(version_id,)]
    assert jobs(database_url) == []


async def test_questions_enqueue_what_is_missing_once(api, worker, database_url):
    head = await publish(api, shared_entry(ATTRIBUTES))
    assert len(jobs(database_url)) == ATTRIBUTES
    with psycopg.connect(database_url, autocommit=True) as connection:
        # Published by an older model, and by now without jobs.
        connection.execute("DELETE FROM procrastinate_jobs")
    part = await ask(api, head["id"], attributes=["value 2"])
    assert jobs(database_url) == [("reference", "todo")]
    questions = [ask(api, head["id"], measure=measure) for measure in ("g3", "g1", "g2", "chi_square") for _ in "ab"]
    asked = await asyncio.gather(*questions)
    assert jobs(database_url) == [("reference", "todo")] * ATTRIBUTES
    assert rows(database_url, "SELECT count(*) FROM advice") == [(5,)]
    await worker.run()
    assert {(await read(api, one))["status"] for one in (part, *asked)} == {"succeeded"}


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
        connection.execute("TRUNCATE reference, reference_array")
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


async def test_a_chunk_that_fails_fails_who_needs_it_and_nobody_else(api, worker, database_url):
    head = await publish(api, shared_entry(ATTRIBUTES))
    whole, part = await ask(api, head["id"]), await ask(api, head["id"], attributes=["value 1"])
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("UPDATE count_table SET data = '\\x00' WHERE attribute = 5")
        connection.execute(LAST_ATTEMPT)
        waiting = asyncio.create_task(ask(api, head["id"], prefer="wait=20"))
        await worker.run()
    failed = await waiting
    assert (failed.status_code, failed.json()["problem"]["code"]) == (200, "internal")
    assert (await read(api, whole))["status"] == "failed"
    assert (await read(api, part))["status"] == "succeeded"
    assert rows(database_url, "SELECT count(*) FROM reference") == [(ATTRIBUTES - 1,)]


async def test_a_claim_that_is_given_up_does_not_bar_the_next_question(api, worker, database, database_url):
    head = await publish(api)
    await ask(api, head["id"])
    manager = worker.queue.job_manager
    doing = await manager.fetch_job(queues=None, worker_id=await manager.register_worker())
    await ask(api, head["id"], measure="g3")
    assert jobs(database_url) == [("reference", "doing")]
    async with services(database, database_url) as factory:
        await factory.reconstructing().give_up(version_of(database_url), [0], Problem("too_heavy", "It was."))
    again = await ask(api, head["id"])
    assert jobs(database_url) == [("reference", "doing"), ("reference", "todo")]
    await manager.retry_job(doing)
    await worker.run()
    assert (await read(api, again))["status"] == "succeeded"
    assert jobs(database_url) == []


async def test_a_chunk_whose_process_dies_is_computed_at_the_next_attempt(api, worker, database_url):
    head = await publish(api)
    asked = await ask(api, head["id"])
    async with working(database_url, Dying()) as run:
        await run()
    assert jobs(database_url) == [("reference", "todo")]
    assert (await read(api, asked))["progress"] == {"done": 0, "total": 1}
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("UPDATE procrastinate_jobs SET scheduled_at = NULL")
    await worker.run()
    assert (await read(api, asked))["status"] == "succeeded"


class Dying(ChildProcess):
    """A child that is killed while it computes."""

    def __init__(self):
        super().__init__("os", deadline=60)

    async def run(self, _function, *_given):
        return await super().run(os.kill, await super().run(os.getpid), signal.SIGKILL)
