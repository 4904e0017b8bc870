"""A fair semaphore: names take turns, so that a name with many calls does not delay one with few."""

import asyncio
import math
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from app.platform.errors import OverloadedError


class Turns:
    """A number of places. Every name has its own queue, and the queues are served in turn.

    With one place, this is a lock. Nobody overtakes the next in turn, so a large call gets its room even among many
    small ones.

    Args:
        most_waiting: the most calls that wait in all queues together; None for no limit.
        places: the most places taken at the same time.
        room: the most size of all taken places together; a single one may be larger.
    """

    def __init__(self, most_waiting: int | None = None, places: int = 1, room: float = math.inf) -> None:
        self._most_waiting = most_waiting
        self._places = places
        self._room = room
        self._taken: list[float] = []
        self._waiting = 0
        self._lines: OrderedDict[str, deque[tuple[asyncio.Future[None], float]]] = OrderedDict()

    @property
    def taken(self) -> int:
        """The number of taken places."""
        return len(self._taken)

    @property
    def waiting(self) -> int:
        """The number of calls that wait in all queues together."""
        return self._waiting

    @asynccontextmanager
    async def turn(self, name: str, size: float = 0) -> AsyncIterator[None]:
        """Wait for this name's turn, and take a place and `size` of the room during the block.

        Raises:
            OverloadedError: too many calls wait already.
        """
        if self._lines or not self._fits(size):
            await self._wait(name, size)
        else:
            self._taken.append(size)
        try:
            yield
        finally:
            self._leave(size)

    async def _wait(self, name: str, size: float) -> None:
        if self._most_waiting is not None and self._waiting >= self._most_waiting:
            raise OverloadedError("Queue full; try again later.")
        called = asyncio.get_running_loop().create_future()
        self._lines.setdefault(name, deque()).append((called, size))
        self._waiting += 1
        try:
            await called
        except asyncio.CancelledError:
            if called.cancelled():
                self._admit_next()  # it may have been the next, and those behind it need less
            else:
                self._leave(size)  # it was admitted, but is cancelled
            raise
        finally:
            self._waiting -= 1

    def _fits(self, size: float) -> bool:
        if not self._taken:
            return True
        return len(self._taken) < self._places and sum(self._taken) + size <= self._room

    def _leave(self, size: float) -> None:
        self._taken.remove(size)
        self._admit_next()

    def _admit_next(self) -> None:
        """Admit the first of the next queue, which then goes to the end, while there are places."""
        while self._lines:
            name, line = next(iter(self._lines.items()))
            while line and line[0][0].done():  # cancelled ones have left
                line.popleft()
            if line:
                called, size = line[0]
                if not self._fits(size):
                    return
                self._taken.append(size)
                called.set_result(None)
                line.popleft()
            del self._lines[name]
            if line:
                self._lines[name] = line
