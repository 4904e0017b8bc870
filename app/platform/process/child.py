"""A warm child process for work that would hold the interpreter's lock and so stop the event loop.

Measured: parsing a 20 MB entry blocked all other requests for a second in this process, for 0.2 to 0.9 s in a thread,
and for 6 ms in a child (decision 4).
"""

import asyncio
import gc
import math
import os
import signal
from asyncio import gather, sleep
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TypeVar, TypeVarTuple, Unpack

from anyio import BrokenWorkerProcess, CapacityLimiter, fail_after, to_process
from threadpoolctl import threadpool_limits

from app.platform.errors import InterruptedWorkError, OverloadedError
from app.platform.process.bound import die_with_parent

Given = TypeVarTuple("Given")
Result = TypeVar("Result")

#: The niceness of child processes (0 to 19).
NICENESS = 10

#: The delay in seconds of processes that may be needed later, so that they do not slow down the service's start.
SOON = 3.0

#: Modules that computations load on demand. Every process loads them in advance, since threads can be limited only in
#: loaded libraries.
COMPUTING = ("scipy.linalg", "scipy.optimize", "scipy.sparse.csgraph", "scipy.special")

#: Seconds between two calls that prevent idle processes from ending.
BEFORE_IDLE_PROCESSES_END = 120.0


@dataclass(frozen=True, slots=True)
class ChildState:
    """The state of a child process, or of several for the same kind of work.

    Attributes:
        is_alive: whether the last started process still lives.
        busy: the number of functions that run, or whose process is starting.
    """

    is_alive: bool
    busy: int
    waiting: int
    deaths: int


class ChildProcess:
    """Runs functions in separate processes, by default one at a time; a process that dies is started again.

    All objects of this class in an event loop share their processes, as many as functions run at a time.

    Args:
        module: the module with the functions, imported in advance.
        deadline: seconds after which the process is killed, since some input would never finish.
        room: the total size of their input in bytes; a larger input runs alone.

    Raises:
        InterruptedWorkError: the process died during a call.
        OverloadedError: too many callers wait for their turn.
    """

    def __init__(
        self,
        module: str,
        deadline: float,
        most_waiting: int | None = None,
        *,
        at_once: int = 1,
        room: float = math.inf,
    ) -> None:
        self._module = module
        self._deadline = deadline
        self._turns = Turns(most_waiting, at_once, room)
        self._limiter = CapacityLimiter(at_once)
        self._process_id: int | None = None
        self._busy = 0
        self._deaths = 0

    def state(self) -> ChildState:
        """The current state; callable from any thread."""
        is_alive = False
        if self._process_id is not None:
            with suppress(OSError):  # no such process, or the number belongs to another user's by now
                os.kill(self._process_id, 0)
                is_alive = True
        return ChildState(is_alive, self._busy, self._turns.waiting, self._deaths)

    async def warm(self, on_behalf_of: str = "", patience: float = math.inf) -> None:
        """Start the process without a deadline, so that the first call does not wait for its imports.

        Raises:
            TimeoutError: its turn did not come within `patience` seconds.
        """
        async with AsyncExitStack() as turn:
            with fail_after(patience):
                await turn.enter_async_context(self._turns.turn(on_behalf_of))
            await self._start()

    async def _start(self) -> None:
        """Start a process unless one is ready, so that its imports do not count as time of the function."""
        with self._death_noticed():
            self._process_id = await to_process.run_sync(
                _prepare, self._module, cancellable=True, limiter=self._limiter
            )

    async def run(
        self, function: Callable[[Unpack[Given]], Result], *given: *Given, on_behalf_of: str = "", size: int = 0
    ) -> Result:
        """Run `function` in the process and return its result; kill the process if the caller is cancelled.

        The names in `on_behalf_of` take turns. `size` is that of the input in bytes.

        Raises:
            TimeoutError: the function takes longer than the deadline; waiting and the start of a process do not count.
        """
        async with self._turns.turn(on_behalf_of, size):
            self._busy += 1
            try:
                await self._start()
                with fail_after(self._deadline), self._death_noticed():
                    return await to_process.run_sync(
                        _prepared, self._module, function, *given, cancellable=True, limiter=self._limiter
                    )
            finally:
                self._busy -= 1

    @contextmanager
    def _death_noticed(self) -> Iterator[None]:
        try:
            yield
        except (BrokenWorkerProcess, OSError) as error:
            self._deaths += 1
            message = "The process that worked on this died. Nothing was stored; try again."
            raise InterruptedWorkError(message) from error


async def keep_warm(children: Collection[ChildProcess]) -> None:
    """Keep a process ready for every child. Idle processes would end after five minutes."""
    pause = SOON
    while True:
        await sleep(pause)
        pause = BEFORE_IDLE_PROCESSES_END
        # All at once: successive calls would reach the same process.
        await gather(*(child.warm() for child in children), return_exceptions=True)


def _prepared(module: str, function: Callable[[*Given], Result], *given: *Given) -> Result:
    _prepare(module)
    return function(*given)


@cache
def _prepare(module: str) -> int:
    """Prepare this process for a module, once, and return its id."""
    # A computation must not outlive a worker that is killed.
    die_with_parent(signal.SIGKILL)
    # A document is millions of lists and no garbage; with the default threshold, collection takes a tenth of the time.
    gc.set_threshold(100_000, 20, 100)
    # Modules make no garbage while they load, and collection would take a quarter of the time.
    gc.disable()
    for name in (module, *COMPUTING):
        import_module(name)
    # Together, these mark all objects as old without a collection; left frozen, they would not be freed at exit.
    gc.freeze()
    gc.unfreeze()
    gc.enable()
    # Workers already use all cores, so threads of linear algebra would compete. The limit applies only to loaded
    # libraries, so it follows the import.
    threadpool_limits(1)
    # The processes that serve requests have priority.
    os.nice(NICENESS)
    return os.getpid()


class Turns:
    """A fair semaphore: every name has its own queue, and the queues are served in turn.

    With one place, this is a lock. Nobody overtakes the next in turn, so a large call gets its room even among many
    small ones.

    Args:
        most_waiting: the most calls that wait in all queues together; None for no limit.
        room: the most size of all taken places together; a single one may be larger.
    """

    def __init__(self, most_waiting: int | None = None, places: int = 1, room: float = math.inf) -> None:
        self._most_waiting = most_waiting
        self._places = places
        self._room = room
        self._taken: list[float] = []
        self.waiting = 0
        self._lines: OrderedDict[str, deque[tuple[asyncio.Future[None], float]]] = OrderedDict()

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
        if self._most_waiting is not None and self.waiting >= self._most_waiting:
            raise OverloadedError("Queue full; try again later.")
        called = asyncio.get_running_loop().create_future()
        self._lines.setdefault(name, deque()).append((called, size))
        self.waiting += 1
        try:
            await called
        except asyncio.CancelledError:
            if called.cancelled():
                self._admit_next()  # it may have been the next, and those behind it need less
            else:
                self._leave(size)  # it was admitted, but is cancelled
            raise
        finally:
            self.waiting -= 1

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
