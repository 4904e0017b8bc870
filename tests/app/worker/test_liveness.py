"""Real workers that are stopped, killed, forgotten, or asked to end without a database."""

import asyncio
import json
import os
import signal
import subprocess
from collections import Counter

import httpx
import pytest

from app.platform.queue.lanes import HEARTBEAT
from app.platform.queue.presence import AWAY_AFTER, Presence
from tests.app.worker.database import rows
from tests.app.worker.heavy import heavy_entry
from tests.app.worker.proxy import proxied
from tests.app.worker.test_recovery import descendants
from tests.running import line_with, process
from tests.service import publish
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.processes

DOING = "SELECT id, worker_id FROM procrastinate_jobs WHERE status = 'doing' AND queue_name = 'heavy'"
SILENT = "SELECT 1 FROM procrastinate_workers HAVING max(last_heartbeat) < now() - interval '6 s'"
HEARD = "SELECT 1 FROM procrastinate_workers WHERE last_heartbeat > now() - interval '3 s' HAVING count(*) = 2"


def running_worker(database_url):
    return process("worker", database_url=database_url, log_level="INFO", worker_metrics_port="0")


@pytest.fixture
async def other(_one_loop, database_url):
    """Another worker, which takes the jobs of dead ones, but runs none."""
    presence = Presence(database_url, settled_after=0.0)
    yield presence
    await presence.close()


async def taken_by(other):
    """The ids of the jobs that another worker takes now."""
    await other.beat([])
    return [job.id for job in await other.recover_jobs()]


async def first_taken_by(other):
    return await until(lambda: taken_by(other), "no job was taken")


async def held_job(database_url, worker):
    """The running job of a worker and the id of the latter's row; its computation stands still."""
    (job,) = await until(lambda: rows(database_url, DOING))
    signal_children(worker, signal.SIGSTOP)
    return job


def metrics(port):
    return httpx.get(f"http://127.0.0.1:{port}/metrics").text


def signal_children(worker, number):
    for child in descendants(worker.pid):
        os.kill(child, number)


async def ended(worker):
    """The exit code of a worker that ends, and the rest of its log's lines."""
    _, errors = await asyncio.to_thread(worker.communicate, timeout=PATIENCE)
    return worker.returncode, [json.loads(line) for line in errors.splitlines()]


@pytest.mark.long
async def test_a_worker_that_is_stopped_for_seconds_keeps_its_job(api, database_url, other):
    with running_worker(database_url) as worker:
        line_with(worker, "worker started")
        await publish(api, heavy_entry())
        (job,) = await until(lambda: rows(database_url, DOING))
        os.kill(worker.pid, signal.SIGSTOP)
        while not rows(database_url, SILENT):
            assert await taken_by(other) == []
            await asyncio.sleep(HEARTBEAT / 2)  # as often as real ones, and no burden to what computes
        assert rows(database_url, DOING) == [job]
        os.kill(worker.pid, signal.SIGCONT)
        await until(lambda: not rows(database_url, "SELECT 1 FROM procrastinate_jobs WHERE id = %s", job[0]))
        worker.terminate()
        code, lines = await ended(worker)
    tries = Counter(line["job_id"] for line in lines if line["event"] == "job ended")
    assert code == 0
    assert tries[job[0]] == 1
    assert set(tries.values()) == {1}
    assert not [line for line in lines if "anew" in line["event"]]


@pytest.mark.long
async def test_a_forgotten_worker_is_heard_of_again_and_its_job_is_taken_once_it_is_killed(api, database_url, other):
    with running_worker(database_url) as worker:
        line_with(worker, "worker started")
        await publish(api, heavy_entry())
        job = await held_job(database_url, worker)
        assert len(rows(database_url, "DELETE FROM procrastinate_workers RETURNING id")) == 2
        assert '"worker_id": ' in line_with(worker, "worker registered anew")
        await until(lambda: rows(database_url, HEARD))
        (again,) = rows(database_url, DOING)
        assert again[0] == job[0]
        assert again[1] > job[1]
        worker.kill()
        assert job[0] in await first_taken_by(other)


@pytest.mark.long
@pytest.mark.parametrize("fate", ["cut", "hang"])
async def test_a_worker_without_a_database_ends_when_it_is_asked_to(database_url, fate):
    async with proxied(database_url) as (proxy, url):
        with running_worker(url) as worker:
            await asyncio.to_thread(line_with, worker, "worker started")
            await until(lambda: rows(database_url, HEARD))
            getattr(proxy, fate)()
            if fate == "cut":  # otherwise the worker might sign off before its connections are broken
                await asyncio.to_thread(line_with, worker, "heartbeat interrupted")
            worker.terminate()
            code, lines = await ended(worker)
    assert code == 0
    assert "worker ended without the database" in [line["event"] for line in lines]


@pytest.mark.long
async def test_a_worker_without_a_database_finishes_what_it_computes_and_its_job_is_taken(api, database_url, other):
    async with proxied(database_url) as (proxy, url):
        with running_worker(url) as worker:
            port = json.loads(await asyncio.to_thread(line_with, worker, "metrics served"))["port"]
            await publish(api, heavy_entry())
            job = await held_job(database_url, worker)
            await until(lambda: 'aegis_child_busy{child="compute_heavy"} 1' in metrics(port))
            proxy.cut()
            worker.terminate()
            with pytest.raises(subprocess.TimeoutExpired):
                await asyncio.to_thread(worker.wait, timeout=2 * AWAY_AFTER)
            signal_children(worker, signal.SIGCONT)
            code, lines = await ended(worker)
    assert code == 0
    assert "worker ended without the database" in [line["event"] for line in lines]
    assert job[0] in await first_taken_by(other)


@pytest.mark.long
async def test_a_job_that_kills_its_worker_each_time_ends(api, database_url, other, monkeypatch):
    monkeypatch.setattr("app.platform.queue.presence.INTERRUPTIONS", 2)
    await publish(api, heavy_entry())
    first = None
    for _ in range(2):
        with running_worker(database_url) as worker:
            job = await held_job(database_url, worker)
            first = first or job[0]
            worker.kill()
        assert job[0] in await first_taken_by(other)
        assert job[0] == first
    assert rows(database_url, "SELECT attempts FROM procrastinate_jobs WHERE id = %s", first) == [(3,)]
    with running_worker(database_url) as worker:
        assert '"outcome": "failed"' in await asyncio.to_thread(line_with, worker, f'"job_id": {first}')
