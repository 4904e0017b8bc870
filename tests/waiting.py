"""Waiting for what comes about soon: patient enough for a loaded machine, but with a limit."""

import asyncio
import inspect
import time
from collections.abc import Callable
from typing import Any

#: Seconds that a test waits at most, and seconds between two looks.
PATIENCE = 300.0
PAUSE = 0.02


def wait_until(condition: Callable[[], Any], what: str = "it did not come about") -> Any:
    """Wait until `condition` returns something, and return that; fail by saying `what`."""
    deadline = time.monotonic() + PATIENCE
    while not (outcome := condition()):
        assert time.monotonic() < deadline, what
        time.sleep(PAUSE)
    return outcome


async def until(condition: Callable[[], Any], what: str = "it did not come about") -> Any:
    """The same, while other tasks of the loop run; `condition` may also return something to await."""
    deadline = time.monotonic() + PATIENCE
    while not (outcome := await _outcome(condition)):
        assert time.monotonic() < deadline, what
        await asyncio.sleep(PAUSE)
    return outcome


async def _outcome(condition: Callable[[], Any]) -> Any:
    outcome = await asyncio.to_thread(condition)
    return await outcome if inspect.isawaitable(outcome) else outcome
