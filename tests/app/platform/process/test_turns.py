"""Places whose waiters take turns."""

import asyncio

import pytest

from app.platform.errors import OverloadedError
from app.platform.process.child import Turns


async def waiting(turns, served, *names):
    """Tasks that wait, one for each name in this order, and note their name when it is their turn."""

    async def take(name):
        async with turns.turn(name):
            served.append(name)

    tasks = [asyncio.create_task(take(name)) for name in names]
    await asyncio.sleep(0)
    return tasks


async def test_whoever_asks_once_waits_for_one_turn_of_whoever_asks_often():
    turns, served = Turns(), []
    async with turns.turn("busy"):
        tasks = await waiting(turns, served, *["busy"] * 5, "once", "twice", "twice")
    await asyncio.gather(*tasks)
    assert served == ["busy", "once", "twice", "busy", "twice", "busy", "busy", "busy"]


async def test_one_at_a_time_holds_it_and_an_error_frees_it():
    turns, inside = Turns(), []

    async def take():
        async with turns.turn("a"):
            inside.append(1)
            await asyncio.sleep(0)
            assert len(inside) == 1
            inside.pop()
            raise ValueError

    results = await asyncio.gather(*[take() for _ in range(20)], return_exceptions=True)
    assert {type(error) for error in results} == {ValueError}
    async with asyncio.timeout(5), turns.turn("a"):
        pass


async def test_whoever_gives_up_waiting_holds_up_nobody():
    turns, served = Turns(), []
    async with turns.turn("first"):
        gone, called, last = await waiting(turns, served, "gone", "called", "last")
        gone.cancel()
        await asyncio.sleep(0)
    # It has been called by now, and is cancelled before it can come.
    called.cancel()
    async with asyncio.timeout(5):
        await last
    assert served == ["last"]


async def test_whoever_gives_up_does_not_use_up_the_turn_of_its_name():
    turns, served = Turns(), []
    async with turns.turn("first"):
        tasks = await waiting(turns, served, "a", "a", "b")
        tasks[0].cancel()
    await asyncio.gather(*tasks[1:])
    assert served == ["a", "b"]


async def test_when_too_many_wait_the_next_one_is_sent_away():
    turns, served = Turns(most_waiting=2), []
    async with turns.turn("a"):
        tasks = await waiting(turns, served, "a", "b")
        with pytest.raises(OverloadedError):
            async with turns.turn("c"):
                pass
    await asyncio.gather(*tasks)
    assert served == ["a", "b"]


async def test_with_several_places_lines_still_take_turns():
    turns, served = Turns(places=2), []
    async with turns.turn("busy"), turns.turn("busy"):
        tasks = await waiting(turns, served, "busy", "busy", "once")
        assert (len(turns._taken), turns.waiting, served) == (2, 3, [])
    await asyncio.gather(*tasks)
    assert served == ["busy", "once", "busy"]
    assert (len(turns._taken), turns.waiting) == (0, 0)


async def holding(turns, name, size):
    """A task that holds a place of this size until the event beside it is set, and another event for its beginning."""
    began, over = asyncio.Event(), asyncio.Event()

    async def hold():
        async with turns.turn(name, size):
            began.set()
            await over.wait()

    task = asyncio.create_task(hold())
    await asyncio.sleep(0)
    return task, began, over


async def test_those_inside_share_the_room_and_the_next_is_not_overtaken_by_smaller_ones():
    turns = Turns(places=3, room=10)
    tasks, began, over = zip(*[await holding(turns, *one) for one in (("a", 6), ("b", 6), ("c", 1))], strict=True)
    assert [event.is_set() for event in began] == [True, False, False]  # c would have room, but b is the next
    over[0].set()
    await began[2].wait()
    assert (began[1].is_set(), len(turns._taken)) == (True, 2)
    over[1].set()
    over[2].set()
    await asyncio.gather(*tasks)


async def test_what_is_larger_than_the_room_holds_a_place_alone():
    turns = Turns(places=2, room=10)
    tasks, began, over = zip(*[await holding(turns, *one) for one in (("a", 99), ("b", 1))], strict=True)
    assert [event.is_set() for event in began] == [True, False]
    over[0].set()
    await began[1].wait()
    over[1].set()
    await asyncio.gather(*tasks)


async def test_those_behind_one_that_gives_up_get_the_room_that_it_waited_for():
    turns = Turns(places=2, room=10)
    tasks, began, over = zip(*[await holding(turns, *one) for one in (("a", 6), ("b", 6), ("c", 1))], strict=True)
    tasks[1].cancel()
    await began[2].wait()
    assert len(turns._taken) == 2
    over[0].set()
    over[2].set()
    await asyncio.gather(*tasks, return_exceptions=True)
