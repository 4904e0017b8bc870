"""Places whose waiters take turns, so that whoever asks often does not hold up whoever asks once."""

import asyncio
import math
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from app.platform.errors import OverloadedError


class Turns:
    """Some places. Each name has a line of its own, and the lines are served in turn.

    With one place, this is a lock. Nobody overtakes whoever is next: a large one gets its room, however many small
    ones ask.

    Args:
        most_waiting: how many may wait in all lines together; None for any number.
        places: how many may hold a place at the same time.
        room: how much those who hold one may take together; one alone may take more.
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
        """How many hold a place."""
        return len(self._taken)

    @property
    def waiting(self) -> int:
        """How many wait in all lines together."""
        return self._waiting

    @asynccontextmanager
    async def turn(self, name: str, size: float = 0) -> AsyncIterator[None]:
        """Hold a place during the block, when it is this name's turn, and take so much of the room.

        Raises:
            OverloadedError: too many wait already.
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
            raise OverloadedError("Too many requests wait for the same work already.")
        called = asyncio.get_running_loop().create_future()
        self._lines.setdefault(name, deque()).append((called, size))
        self._waiting += 1
        try:
            await called
        except asyncio.CancelledError:
            if called.cancelled():
                self._admit_next()  # it was perhaps the next, and those behind it need less
            else:
                self._leave(size)  # it was called, but does not come
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
        """Admit the first of the next line, which then goes to the end, as often as there is a place."""
        while self._lines:
            name, line = next(iter(self._lines.items()))
            while line and line[0][0].done():  # those that were cancelled have left
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
