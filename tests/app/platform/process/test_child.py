"""Child processes: what their callers are told when they die, and that they are ready when they are needed."""

import asyncio
import os
import signal
import time

import pytest
from anyio import wait_all_tasks_blocked

from app.platform.errors import InterruptedWorkError
from app.platform.process import child
from app.platform.process.child import ChildProcess, ChildState, keep_warm


def kill_yourself():
    os.kill(os.getpid(), signal.SIGKILL)


def meet(path, others):
    """Wait until this many processes are here, and return this one's id."""
    (path / str(os.getpid())).touch()
    deadline = time.monotonic() + 20
    while len(list(path.iterdir())) < others and time.monotonic() < deadline:
        time.sleep(0.01)
    return os.getpid()


@pytest.mark.long
async def test_whoever_kills_its_process_hurts_nobody_else():
    process = ChildProcess("time", deadline=60)
    asked = [process.run(function) for function in (os.getpid, kill_yourself, os.getpid, kill_yourself, os.getpid)]
    results = await asyncio.gather(*asked, return_exceptions=True)
    assert [type(result) for result in results] == [int, InterruptedWorkError, int, InterruptedWorkError, int]


@pytest.mark.long  # with a shorter deadline, a loaded machine would miss it
async def test_the_start_of_a_process_does_not_count_as_time_of_its_function():
    process = ChildProcess("tests.app.platform.process.slow_module", deadline=15)
    with pytest.raises(InterruptedWorkError):  # the next process has to start anew
        await process.run(kill_yourself)
    assert await process.run(os.getpid) != os.getpid()


async def test_a_process_for_each_kind_of_work_is_kept_ready(tmp_path, monkeypatch):
    monkeypatch.setattr(child, "SOON", 0.0)
    kinds = [ChildProcess("time", deadline=60) for _ in range(3)]
    keeping = asyncio.create_task(keep_warm(kinds))
    pids = await asyncio.gather(*(kind.run(meet, tmp_path, 3) for kind in kinds))
    keeping.cancel()
    assert len(set(pids)) == 3


async def test_as_many_run_at_once_as_may_and_have_room(tmp_path):
    process = ChildProcess("time", deadline=60, at_once=2, room=5)
    calls = [asyncio.create_task(process.run(meet, tmp_path, 3, size=size)) for size in (2, 3, 1)]
    await wait_all_tasks_blocked()
    while len(list(tmp_path.iterdir())) < 2:  # noqa: ASYNC110 -- no event tells
        await asyncio.sleep(0.01)
    assert process.state() == ChildState(is_alive=True, busy=2, waiting=1, deaths=0)
    (tmp_path / "other").touch()
    assert len(set(await asyncio.gather(*calls[:2]))) == 2
    await calls[2]
    calls = [asyncio.create_task(process.run(meet, tmp_path, 9, size=size)) for size in (3, 3)]
    await wait_all_tasks_blocked()
    assert (process.state().busy, process.state().waiting) == (1, 1)  # there is a process, but no room
    for place in range(9):
        (tmp_path / str(place)).touch()
    await asyncio.gather(*calls)


async def test_a_process_may_take_as_long_to_get_ready_as_it_likes():
    await ChildProcess("time", deadline=0).warm()  # a function would have no time at all


async def test_its_state_is_seen_from_outside(tmp_path):
    process = ChildProcess("time", deadline=60)
    assert process.state() == ChildState(is_alive=False, busy=0, waiting=0, deaths=0)
    await process.warm()
    calls = [asyncio.create_task(process.run(meet, tmp_path, 2)) for _ in range(2)]
    await wait_all_tasks_blocked()
    assert process.state() == ChildState(is_alive=True, busy=1, waiting=1, deaths=0)
    (tmp_path / "other").touch()
    await asyncio.gather(*calls)
    assert process.state() == ChildState(is_alive=True, busy=0, waiting=0, deaths=0)
    with pytest.raises(InterruptedWorkError):
        await process.run(kill_yourself)
    assert process.state() == ChildState(is_alive=False, busy=0, waiting=0, deaths=1)
