"""Large entries are checked at the same time, as far as there are cores and memory."""

import asyncio
import os

import orjson
import pytest
from anyio import wait_all_tasks_blocked

from app.entries.api import uploads
from app.entries.api.uploads import (
    DEADLINE,
    LARGE_AT_ONCE,
    checking_children,
    own_cores,
    read_publication_in,
    run_patiently,
)
from app.platform.process.child import ChildProcess
from app.platform.queue.model import Lane
from tests.app.platform.process.test_child import meet
from tests.service import example_entry

BODIES = [orjson.dumps(example_entry(name=name)) for name in ("first", "second")]


@pytest.fixture
def checked(monkeypatch):
    """How many of two large entries were checked at once at most, and the names of what was checked."""
    monkeypatch.setattr(uploads, "LIGHT_BODY", 0)  # these are large

    async def check(children):
        calls = [asyncio.create_task(read_publication_in(children, "tenant", body)) for body in BODIES]
        most = 0
        while not all(call.done() for call in calls):
            most = max(most, children[Lane.HEAVY].state().busy)
            await asyncio.sleep(0)
        return most, [call.result().name for call in calls]

    return check


@pytest.mark.skipif(LARGE_AT_ONCE < 2, reason="there is one core")
async def test_two_large_entries_are_checked_at_once(checked):
    assert await checked(checking_children()) == (2, ["first", "second"])


async def test_what_has_no_room_beside_another_waits_for_it(checked):
    heavy = ChildProcess(uploads.__name__, DEADLINE, at_once=2, room=2 * len(BODIES[0]) - 1)
    assert await checked({Lane.HEAVY: heavy}) == (1, ["first", "second"])


@pytest.fixture
async def busy(tmp_path, monkeypatch):
    """A heavy lane with two places, in which something runs that takes six of ten bytes."""
    monkeypatch.setattr(uploads, "PATIENCE", 0.1)
    heavy = ChildProcess("time", DEADLINE, at_once=2, room=10)
    running = asyncio.create_task(heavy.run(meet, tmp_path, 2, size=6))
    while not list(tmp_path.iterdir()):  # noqa: ASYNC110 -- no event tells
        await asyncio.sleep(0.01)
    yield {Lane.HEAVY: heavy}
    (tmp_path / "other").touch()
    await running


async def test_people_do_not_wait_longer_than_they_have_patience_for_what_has_no_room(busy):
    assert await run_patiently(busy, "tenant", os.getpid, size=6) is None


async def test_a_turn_to_start_a_process_is_not_waited_for_longer(busy):
    waiting = asyncio.create_task(busy[Lane.HEAVY].run(os.getpid, on_behalf_of="large", size=9))
    await wait_all_tasks_blocked()
    with pytest.raises(TimeoutError):
        await busy[Lane.HEAVY].warm("tenant", 0.1)
    assert await run_patiently(busy, "tenant", os.getpid, size=1) is None
    waiting.cancel()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="processes are bound to no cores here")
def test_only_cores_that_the_process_may_use_count():
    mine = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(mine)})
    try:
        assert own_cores() == 1
    finally:
        os.sched_setaffinity(0, mine)
    assert min(len(mine), 4) == LARGE_AT_ONCE
