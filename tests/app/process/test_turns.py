"""A lock whose waiters take turns."""

import asyncio

import pytest

from app.domain.errors import OverloadedError
from app.process.turns import Turns


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
