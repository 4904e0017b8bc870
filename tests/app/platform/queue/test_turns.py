"""Tenants take turns in the queue of jobs, whatever each of them has enqueued."""

import asyncio

import psycopg
import pytest
from procrastinate.jobs import Status

from app.platform.errors import DatabaseUnavailableError
from app.platform.queue.model import Lane
from app.platform.queue.queue import Job, JobQueue, queue_app
from tests.app.worker.database import rows

RUNNING = "SELECT count(*) FROM procrastinate_jobs WHERE args ->> 'tenant' = %s AND status IN ('todo', 'doing')"


def asked(*names):
    return [Job("advice", {"advice_id": name}, f"advice {name}") for name in names]


@pytest.fixture
async def enqueue(database, database_url):
    """Enqueue jobs of a tenant in a transaction of its own."""

    async def enqueued(tenant, *names, lane=Lane.LIGHT, ceiling=2):
        async with database.transaction() as session:
            await JobQueue(queue_app(database_url), session, ceiling).enqueue(tenant, lane, asked(*names))

    return enqueued


@pytest.fixture
async def served(database, database_url):
    """Run jobs, without doing anything, and return what each was asked for, in order."""
    app = queue_app(database_url)
    async with app.open_async():
        me = await app.job_manager.register_worker()

        async def serve(most, lane=Lane.LIGHT, ceiling=2):
            found = []
            while len(found) < most and (job := await app.job_manager.fetch_job([lane.value], me)):
                tenant = job.task_kwargs["tenant"]
                found.append((tenant, job.task_kwargs["advice_id"]))
                async with database.transaction() as session:
                    await JobQueue(queue_app(database_url), session, ceiling).go_on(tenant, lane, ended=job.id)
                await app.job_manager.finish_job(job, Status.SUCCEEDED, delete_job=True)
            return found

        yield serve


async def test_a_question_waits_for_one_job_of_each_other_tenant_not_for_all(enqueue, served):
    await enqueue("busy", *(f"b{number}" for number in range(20)))
    await enqueue("also", "a0", "a1")
    await enqueue("small", "s0")
    assert [tenant for tenant, _ in await served(4)] == ["busy", "also", "small", "busy"]
    rest = await served(100)
    assert [name for _, name in rest if name.startswith("b")] == [f"b{number}" for number in range(2, 20)]
    assert ("also", "a1") in rest[:3]


async def test_no_more_jobs_of_a_tenant_run_than_the_ceiling(enqueue, served, database_url):
    await asyncio.gather(*(enqueue("busy", f"b{number}", ceiling=3) for number in range(12)))
    assert rows(database_url, RUNNING, "busy") == [(3,)]
    assert len(await served(4, ceiling=3)) == 4
    assert rows(database_url, RUNNING, "busy") == [(3,)]
    assert len(await served(100, ceiling=3)) == 8
    assert rows(database_url, "SELECT count(*) FROM waiting_job") == [(0,)]


async def test_a_job_that_another_tenant_has_in_the_queue_leaves_its_place_to_the_next(enqueue, served):
    """Otherwise nobody would let the rest of the line go on: a tenant's jobs do that as they end."""
    await enqueue("first", "f0", "shared")
    await enqueue("second", "s0", "shared", "s1", ceiling=1)
    assert await served(100, ceiling=1) == [("first", "f0"), ("second", "s0"), ("second", "s1"), ("first", "shared")]


async def test_lanes_have_lines_of_their_own(enqueue, served):
    await enqueue("busy", "h0", "h1", "h2", lane=Lane.HEAVY)
    await enqueue("busy", "l0")
    assert await served(5) == [("busy", "l0")]
    assert [name for _, name in await served(5, lane=Lane.HEAVY)] == ["h0", "h1", "h2"]


async def test_what_two_tenants_need_is_done_at_the_turn_that_comes_first(enqueue, served):
    await enqueue("busy", *(f"b{number}" for number in range(9)), "shared")
    await enqueue("small", "shared")
    first = await served(2)
    assert first == [("busy", "b0"), ("small", "shared")]
    # Later it does nothing: the advice is answered.
    assert [name for _, name in await served(100)].count("shared") == 1


async def test_what_is_in_the_queue_already_is_not_enqueued_for_another_tenant(enqueue, served, database_url):
    await enqueue("busy", "shared")
    await enqueue("small", "shared")
    assert rows(database_url, "SELECT count(*) FROM procrastinate_jobs") == [(1,)]
    assert await served(9) == [("busy", "shared")]


async def test_a_database_that_goes_away_while_a_job_is_enqueued_is_said_to_be_away(enqueue, owner_url):
    with psycopg.connect(owner_url) as owner:
        owner.execute(
            "CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN "
            "PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END $$; "
            "CREATE TRIGGER die BEFORE INSERT ON procrastinate_jobs FOR EACH ROW EXECUTE FUNCTION die()"
        )
    with pytest.raises(DatabaseUnavailableError):
        await enqueue("busy", "b0")
