"""Large entries are checked at the same time, as far as there are cores and memory."""

import asyncio

import orjson
import pytest

from app.domain.lanes import Lane
from app.process.child import ChildProcess
from app.web import uploads
from app.web.uploads import DEADLINE, LARGE_AT_ONCE, checking_children, read_publication_in
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
