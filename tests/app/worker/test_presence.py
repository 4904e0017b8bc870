"""Whose jobs are taken: never those of workers that are slow, soon those of dead ones."""

from contextlib import contextmanager
from dataclasses import dataclass, field

import psycopg
import pytest
from procrastinate.jobs import Job, Status

from app.platform.queue.lanes import PresentJobs
from app.platform.queue.presence import ATTEMPTS, INTERRUPTIONS, LOCK_CLASS, LOST_AFTER, STALLED_AFTER, Presence
from app.platform.queue.queue import queue_app
from tests.app.worker.database import rows
from tests.waiting import until

SLOW, LOST = STALLED_AFTER + 1, LOST_AFTER + 1
STATES = "SELECT id, status::text, worker_id, attempts FROM procrastinate_jobs ORDER BY id"
WORKERS = "SELECT id FROM procrastinate_workers ORDER BY id"

#: The locks of workers of this database: the server's other databases may have workers, too.
LOCKS = (
    "pg_locks WHERE locktype = 'advisory' AND classid = %s "
    "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


@dataclass
class Registered:
    worker_id: int | None
    running: list[int] = field(default_factory=list)


def execute(database_url, statement, *parameters):
    with psycopg.connect(database_url, autocommit=True) as connection:
        return connection.execute(statement, parameters).fetchone()[0]


def worker(database_url, seconds_ago=-60.0):
    """A worker last heard of this many seconds ago; by default it stays heard of, however slow this machine is.

    Returns its id.
    """
    heard = "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - make_interval(secs => %s)) RETURNING id"
    return execute(database_url, heard, seconds_ago)


def job_of(database_url, worker_id, attempts=0, tries=1, status="doing", claim=None):
    """A job that a worker runs, and that was begun this many times; its id."""
    statement = (
        "INSERT INTO procrastinate_jobs (queue_name, task_name, status, worker_id, attempts, queueing_lock) "
        "VALUES ('heavy', 'reference', %s, %s, %s, %s) RETURNING id"
    )
    job_id = execute(database_url, statement, status, worker_id, attempts, claim)
    started = "INSERT INTO procrastinate_events (job_id, type) SELECT %s, 'started' FROM generate_series(1, %s)"
    execute(database_url, f"WITH begun AS ({started}) SELECT 1", job_id, tries)
    return job_id


@contextmanager
def lock(database_url, worker_id):
    """A process that lives, whatever its heartbeat."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(%s, %s)", [LOCK_CLASS, worker_id])
        yield


@pytest.fixture
async def presence(_one_loop, database_url):
    """Another worker, which may take jobs at once."""
    other = Presence(database_url, settled_after=0.0)
    await other.beat([])
    yield other
    await other.close()


async def test_a_slow_worker_keeps_its_job_and_a_dead_one_does_not(database_url, presence):
    slow, dead = worker(database_url, SLOW), worker(database_url, SLOW)
    kept, lost = job_of(database_url, slow), job_of(database_url, dead)
    with lock(database_url, slow):
        assert [job.id for job in await presence.recover_jobs()] == [lost]
        assert rows(database_url, STATES) == [(kept, "doing", slow, 0), (lost, "todo", None, 0)]
        assert rows(database_url, WORKERS) == [(slow,)]
    taken = await until(presence.recover_jobs)  # the server needs a moment to see that the connection is closed
    assert [job.id for job in taken] == [kept]


async def test_a_worker_without_its_lock_that_was_just_heard_of_keeps_its_job(database_url, presence):
    job_of(database_url, worker(database_url))
    assert await presence.recover_jobs() == []


async def test_a_worker_that_is_cut_off_for_long_loses_its_job_even_with_its_lock(database_url, presence):
    cut_off = worker(database_url, LOST)
    job_id = job_of(database_url, cut_off)
    with lock(database_url, cut_off):
        assert [(job.id, job.task) for job in await presence.recover_jobs()] == [(job_id, "reference")]
    assert rows(database_url, WORKERS) == []


async def test_a_job_without_a_worker_waits_until_that_could_have_registered_anew(database_url, presence, monkeypatch):
    orphan = job_of(database_url, None)
    assert await presence.recover_jobs() == []
    monkeypatch.setattr("app.platform.queue.presence.STALLED_AFTER", 0.0)
    assert [job.id for job in await presence.recover_jobs()] == [orphan]


async def test_a_worker_gives_back_a_job_whose_fetch_it_never_heard_of(database_url, presence, monkeypatch):
    own = Registered(worker(database_url))
    own.running = [job_of(database_url, own.worker_id)]
    unknown = job_of(database_url, own.worker_id)
    assert await presence.recover_jobs([own]) == []
    monkeypatch.setattr("app.platform.queue.presence.UNKNOWN_AFTER", 0.0)
    assert await presence.recover_jobs() == []
    assert [job.id for job in await presence.recover_jobs([own])] == [unknown]


async def test_nothing_is_taken_on_a_new_connection(database_url):
    job_of(database_url, worker(database_url, LOST))
    young = Presence(database_url)
    await young.beat([])
    assert await young.recover_jobs() == []
    await young.close()


async def test_a_gap_between_heartbeats_is_as_a_new_connection(database_url, monkeypatch, presence):
    job_of(database_url, worker(database_url, LOST))
    monkeypatch.setattr(presence, "_settled_after", 1.0)
    monkeypatch.setattr(presence, "_steady_since", 0.0)
    monkeypatch.setattr(presence, "_beat_at", presence._beat_at - SLOW)
    await presence.beat([])
    assert await presence.recover_jobs() == []


async def test_a_worker_has_its_locks_as_long_as_it_is_heard_of(database_url, presence):
    own = Registered(worker(database_url))
    held = f"SELECT objid::int FROM {LOCKS}"
    assert await presence.beat([own]) == []
    assert rows(database_url, held, LOCK_CLASS) == [(own.worker_id,)]
    await presence.beat([])
    assert rows(database_url, held, LOCK_CLASS) == []


async def test_locks_come_back_after_the_server_ended_the_connection(database_url, owner_url, presence):
    own = Registered(worker(database_url))
    await presence.beat([own])
    rows(owner_url, f"SELECT pg_terminate_backend(pid, 10000) FROM {LOCKS}", LOCK_CLASS)
    assert await presence.beat([own]) == []
    assert rows(database_url, f"SELECT count(*) FROM {LOCKS}", LOCK_CLASS) == [(1,)]


@pytest.mark.parametrize("reason", ["its row is gone", "another has its number"])
async def test_a_worker_is_registered_anew_with_its_job(database_url, presence, reason):
    own = Registered(worker(database_url))
    own.running.append(job_of(database_url, own.worker_id))
    old = own.worker_id
    if reason == "its row is gone":
        assert execute(database_url, "DELETE FROM procrastinate_workers RETURNING id") == old
        assert await presence.beat([own]) == [own.worker_id]
    else:
        with lock(database_url, old):
            assert await presence.beat([own]) == [own.worker_id]
    assert own.worker_id != old
    assert rows(database_url, STATES) == [(own.running[0], "doing", own.worker_id, 0)]
    assert await presence.beat([own]) == []


async def test_a_worker_fetches_jobs_only_with_its_lock_and_its_row(database_url, presence):
    waiting = job_of(database_url, None, status="todo")
    own = Registered(worker(database_url))
    queue = queue_app(database_url)
    fetcher = PresentJobs(queue, presence)
    async with queue.open_async():
        assert await fetcher.fetch_job(["heavy"], own.worker_id) is None
        await presence.beat([own])
        assert execute(database_url, "DELETE FROM procrastinate_workers RETURNING 1") == 1
        assert await fetcher.fetch_job(["heavy"], own.worker_id) is None
        await presence.beat([own])
        fetched = await fetcher.fetch_job(["heavy"], own.worker_id)
    assert isinstance(fetched, Job)
    assert fetched.id == waiting


@pytest.mark.parametrize(
    ("failed", "tries", "left"),
    [(0, 1, 0), (0, INTERRUPTIONS - 1, 0), (0, INTERRUPTIONS, ATTEMPTS), (2, INTERRUPTIONS + 1, 2), (3, 20, 3)],
)
async def test_interruptions_are_no_failures_until_there_are_many(database_url, presence, failed, tries, left):
    """A job with `ATTEMPTS` failures is given up by the next worker."""
    job_id = job_of(database_url, worker(database_url, SLOW), failed, tries)
    (taken,) = await presence.recover_jobs()
    assert taken.interruptions == tries - failed
    assert rows(database_url, STATES) == [(job_id, "todo", None, left)]


async def test_of_jobs_with_the_same_claim_one_keeps_it(database_url, presence):
    dead = worker(database_url, SLOW)
    first, second = job_of(database_url, dead, claim="same"), job_of(database_url, dead, claim="same")
    assert [job.id for job in await presence.recover_jobs()] == [first, second]
    claims = "SELECT id, queueing_lock FROM procrastinate_jobs ORDER BY id"
    assert rows(database_url, claims) == [(first, "same"), (second, None)]


async def test_a_job_that_another_worker_has_by_now_is_not_given_back(database_url, presence):
    first, second = worker(database_url), worker(database_url)
    job_id = job_of(database_url, second)
    await presence.give_back(job_id, first)
    assert rows(database_url, STATES) == [(job_id, "doing", second, 0)]
    assert rows(database_url, "SELECT count(*) FROM procrastinate_events WHERE type = 'started'") == [(1,)]


async def test_a_job_that_failed_while_another_one_waits_for_the_same_goes_back_without_its_claim(
    database_url, presence
):
    async with queue_app(database_url).open_async() as app:
        tried = job_of(database_url, worker(database_url), claim="the same")
        waiting = job_of(database_url, None, status="todo", tries=0, claim="the same")
        [(worker_id,)] = rows(database_url, WORKERS)
        job = Job(
            id=tried, queue="heavy", lock=None, queueing_lock="the same", task_name="reference", worker_id=worker_id
        )
        await PresentJobs(app, presence).retry_job(job)
    assert rows(database_url, STATES) == [(tried, "todo", None, 0), (waiting, "todo", None, 0)]
    assert rows(database_url, "SELECT queueing_lock FROM procrastinate_jobs ORDER BY id") == [(None,), ("the same",)]


#: Ends the service's other connections to the database, as a restart of the server would.
BREAK = (
    "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity "
    "WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()"
)


async def test_a_lost_connection_ends_no_worker_and_a_job_ends_all_the_same(database_url, presence, monkeypatch):
    monkeypatch.setattr(presence, "holds", lambda _: True)
    worker_id = worker(database_url)
    job = Job(id=job_of(database_url, worker_id), queue="heavy", lock=None, queueing_lock=None, task_name="reference")
    async with queue_app(database_url).open_async() as app:
        jobs = PresentJobs(app, presence)
        assert execute(database_url, BREAK) >= 1
        assert await jobs.fetch_job(["heavy"], worker_id) is None
        assert execute(database_url, BREAK) >= 1
        await jobs.finish_job(job, Status.SUCCEEDED, delete_job=True)
    assert rows(database_url, STATES) == []
