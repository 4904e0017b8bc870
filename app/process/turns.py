"""A lock whose waiters take turns, so that whoever asks often does not hold up whoever asks once."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from app.domain.errors import OverloadedError


class Turns:
    """A lock. Each name has a line of its own, and the lines are served in turn.

    Args:
        most_waiting: how many may wait in all lines together; None for any number.
    """

    def __init__(self, most_waiting: int | None = None) -> None:
        self._most_waiting = most_waiting
        self._taken = False
        self._waiting = 0
        self._lines: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def waiting(self) -> int:
        """How many wait in all lines together."""
        return self._waiting

    @asynccontextmanager
    async def turn(self, name: str) -> AsyncIterator[None]:
        """Hold the lock during the block, when it is this name's turn.

        Raises:
            OverloadedError: too many wait already.
        """
        if self._taken:
            await self._wait(name)
        self._taken = True
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, name: str) -> None:
        if self._most_waiting is not None and self._waiting >= self._most_waiting:
            raise OverloadedError("Too many requests wait for the same work already.")
        called = asyncio.get_running_loop().create_future()
        self._lines.setdefault(name, deque()).append(called)
        self._waiting += 1
        try:
            await called
        except asyncio.CancelledError:
            if not called.cancelled():
                self._pass_on()  # it was called, but does not come
            raise
        finally:
            self._waiting -= 1

    def _pass_on(self) -> None:
        """Call the first of the next line, which then goes to the end; free the lock if nobody waits."""
        while self._lines:
            name, line = self._lines.popitem(last=False)
            while line and line[0].done():  # those that were cancelled have left
                line.popleft()
            if not line:
                continue
            line.popleft().set_result(None)
            if line:
                self._lines[name] = line
            return
        self._taken = False
