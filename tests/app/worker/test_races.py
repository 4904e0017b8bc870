"""Chunks that end while others end or are requested: no advice is forgotten, and no reference is enqueued twice."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace

import psycopg
import pytest

from app.advice.model import AdviceQuestion
from app.advice.service.advice import QuestionRules, RecentVersions
from app.advice.service.computation import compute_references
from app.factory import Factory
from app.platform.callers import DEVELOPER
from app.platform.errors import NotFoundError
from app.platform.queue.model import Problem
from app.platform.queue.queue import queue_app
from tests.app.worker.database import LOCK_AWAITED, jobs, rows
from tests.app.worker.shared import shared_entry
from tests.service import ask, publish
from tests.waiting import until

ATTRIBUTES = 8


@asynccontextmanager
async def services(database, database_url):
    """The services of one transaction that the test holds open."""
    async with database.transaction() as session:
        yield Factory(session, queue_app(database_url))


async def computed(database, database_url, version_id, places):
    """The references of some attributes, computed but not stored."""
    async with services(database, database_url) as factory:
        given = await factory.references().load(version_id, places)
    return compute_references(given, seconds=60)


async def all_but_the_last_two(database, database_url, version_id):
    """Store all references of a heavy version except those of the last two attributes; return these two."""
    places = list(range(ATTRIBUTES))
    one = (await computed(database, database_url, version_id, places[:1]))[0]
    same = [replace(one, attribute=place) for place in places[:-2]]
    async with services(database, database_url) as factory:
        await factory.references().store(version_id, places[:-2], same)
    return [await computed(database, database_url, version_id, [place]) for place in places[-2:]]


def version_of(database_url):
    return rows(database_url, "SELECT id FROM entry_version")[0][0]


def without_jobs(database_url):
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("DELETE FROM procrastinate_jobs; DELETE FROM waiting_job")


async def read(api, asked):
    return (await api.get(f"/v1/advice/{asked.json()['id']}")).json()


@pytest.mark.long
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
            await factory.references().store(version_id, [last[which][0].attribute], last[which])

    async with services(database, database_url) as factory:
        await factory.references().store(version_id, [last[first][0].attribute], last[first])
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
        await factory.references().store(version_id, [0], references)
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
        found = await factory.catalogue().head(DEVELOPER, head["id"])
        asked, _ = await factory.advice(RecentVersions()).ask(
            DEVELOPER, found, AdviceQuestion("g3"), QuestionRules(budget=1)
        )
        working = asyncio.create_task(worker.run())
        await until(lambda: rows(database_url, LOCK_AWAITED))
        assert jobs(database_url) == [("reference", "doing")]
    await working
    assert rows(database_url, "SELECT id::text, status FROM advice") == [(asked.advice_id, "succeeded")]
    assert rows(database_url, "SELECT version_id FROM reference") == [(version_id,)]
    assert jobs(database_url) == []


async def test_a_version_that_is_known_but_was_deleted_is_not_found(api, database, database_url):
    head = await publish(api)
    recent = RecentVersions()
    async with services(database, database_url) as factory:
        found = await factory.catalogue().head(DEVELOPER, head["id"])
        await factory.advice(recent).ask(DEVELOPER, found, AdviceQuestion("g3"), QuestionRules(budget=1))
    assert recent.find(found) is not None
    await api.delete(f"/v1/entries/{head['id']}")
    async with services(database, database_url) as factory:
        with pytest.raises(NotFoundError):
            await factory.advice(recent).ask(DEVELOPER, found, AdviceQuestion("g1"), QuestionRules(budget=1))


async def test_questions_enqueue_what_is_missing_once(api, worker, database_url):
    head = await publish(api, shared_entry(ATTRIBUTES))
    assert len(jobs(database_url)) == ATTRIBUTES
    without_jobs(database_url)  # as if published by an older model version, whose jobs are gone
    part = await ask(api, head["id"], attributes=["value 2"])
    assert jobs(database_url) == [("reference", "todo")]
    questions = [ask(api, head["id"], measure=measure) for measure in ("g3", "g1", "g2", "chi_square") for _ in "ab"]
    asked = await asyncio.gather(*questions)
    assert jobs(database_url) == [("reference", "todo")] * ATTRIBUTES
    assert rows(database_url, "SELECT count(*) FROM advice") == [(5,)]
    await worker.run()
    assert {(await read(api, one))["status"] for one in (part, *asked)} == {"succeeded"}


async def test_to_ask_again_brings_back_a_job_that_was_lost(api, worker, database_url):
    head = await publish(api)
    asked = await ask(api, head["id"])
    without_jobs(database_url)
    again = await ask(api, head["id"])
    assert (again.json()["id"], jobs(database_url)) == (asked.json()["id"], [("reference", "todo")])
    await worker.run()
    assert (await read(api, asked))["status"] == "succeeded"


async def test_a_claim_that_is_given_up_does_not_bar_the_next_question(api, worker, database, database_url):
    head = await publish(api)
    await ask(api, head["id"])
    manager = worker.queue.job_manager
    doing = await manager.fetch_job(queues=None, worker_id=await manager.register_worker())
    await ask(api, head["id"], measure="g3")
    assert jobs(database_url) == [("reference", "doing")]
    async with services(database, database_url) as factory:
        await factory.references().give_up(version_of(database_url), [0], Problem("too_heavy", "It was."))
    again = await ask(api, head["id"])
    assert jobs(database_url) == [("reference", "doing"), ("reference", "todo")]
    await manager.retry_job(doing)
    await worker.run()
    assert (await read(api, again))["status"] == "succeeded"
    assert jobs(database_url) == []
