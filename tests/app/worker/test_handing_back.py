"""Workers that are asked to end with jobs under way: what is short is finished, what is long is handed back."""

import asyncio
import signal

import pytest

from tests.app.worker.database import rows
from tests.app.worker.heavy import heavy_entry
from tests.app.worker.test_liveness import ended, signal_children
from tests.app.worker.test_recovery import descendants, runs
from tests.running import line_with, process
from tests.service import ask, publish
from tests.waiting import until

pytestmark = pytest.mark.processes

RUNNING = "SELECT id FROM procrastinate_jobs WHERE status = 'doing' AND queue_name = 'heavy'"
STATE = "SELECT status::text, attempts, worker_id FROM procrastinate_jobs WHERE id = %s"
STARTED = "SELECT count(*) FROM procrastinate_events WHERE job_id = %s AND type = 'started'"


def worker(database_url, **settings):
    return process("worker", database_url=database_url, log_level="INFO", **settings)


async def started(running):
    await asyncio.to_thread(line_with, running, "worker started")


def outcomes(lines, job_id):
    return [line["outcome"] for line in lines if line["event"] == "job ended" and line["job_id"] == job_id]


@pytest.mark.long
async def test_a_short_job_is_finished_before_its_worker_ends(api, database_url):
    with worker(database_url, stop_seconds="300") as one:
        await started(one)
        await publish(api, heavy_entry())
        [(job_id,)] = await until(lambda: rows(database_url, RUNNING))
        signal_children(one, signal.SIGSTOP)  # otherwise it might be over before the signal
        one.terminate()
        signal_children(one, signal.SIGCONT)
        code, lines = await ended(one)
    assert (code, outcomes(lines, job_id)) == (0, ["done"])
    assert rows(database_url, "SELECT 1 FROM procrastinate_jobs WHERE id = %s", job_id) == []
    assert rows(database_url, "SELECT 1 FROM procrastinate_workers") == []


async def test_a_long_job_is_handed_back_at_once_and_nothing_has_failed(api, database_url):
    with worker(database_url, stop_seconds="0.2") as one:
        await started(one)
        await publish(api, heavy_entry())
        [(job_id,)] = await until(lambda: rows(database_url, RUNNING))
        signal_children(one, signal.SIGSTOP)  # it would take forever
        children = descendants(one.pid)
        one.terminate()
        code, lines = await ended(one)
    assert (code, outcomes(lines, job_id)) == (0, ["given_back"])
    assert rows(database_url, "SELECT 1 FROM procrastinate_workers") == []
    assert rows(database_url, STATE, job_id) == [("todo", 0, None)]
    assert rows(database_url, STARTED, job_id) == [(0,)]
    await until(lambda: not any(map(runs, children)))


@pytest.mark.long
async def test_another_worker_that_runs_already_takes_the_job_that_is_handed_back(api, database_url):
    with worker(database_url, stop_seconds="0") as one:
        await started(one)
        head = await publish(api, heavy_entry())
        asked = await ask(api, head["id"])
        [(job_id,)] = await until(lambda: rows(database_url, RUNNING))
        signal_children(one, signal.SIGSTOP)
        with worker(database_url) as other:
            await started(other)
            one.terminate()
            assert (await ended(one))[0] == 0
            await until(lambda: rows(database_url, "SELECT 1 FROM advice WHERE status = 'succeeded'"))
            other.terminate()
            _, lines = await ended(other)
    assert outcomes(lines, job_id) == ["done"]
    assert not [line for line in lines if line["event"] == "job recovered"]
    assert (await api.get(asked.headers["Location"])).json()["status"] == "succeeded"


@pytest.mark.long
async def test_a_job_that_is_handed_back_again_has_as_many_tries_left_as_before(api, database_url):
    await publish(api, heavy_entry())
    for _ in range(2):
        with worker(database_url, stop_seconds="0") as one:
            await started(one)
            [(job_id,)] = await until(lambda: rows(database_url, RUNNING))
            signal_children(one, signal.SIGSTOP)
            one.terminate()
            assert (await ended(one))[0] == 0
        assert rows(database_url, STATE, job_id) == [("todo", 0, None)]  # no failure
        assert rows(database_url, STARTED, job_id) == [(0,)]  # and no interruption
