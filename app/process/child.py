"""A warm child process for work that would hold the interpreter's lock: a stalled event loop is a dead service.

Measured: parsing a 20 MB entry in this process stopped everybody else for a second, in a thread for 0.2 to 0.9 s, in a
child for 6 ms (docs/decisions/0004).
"""

import gc
import signal
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TypeVar, TypeVarTuple, Unpack

from anyio import CapacityLimiter, Lock, fail_after, to_process
from threadpoolctl import threadpool_limits

from app.process.bound import die_with_parent

Given = TypeVarTuple("Given")
Result = TypeVar("Result")


class ChildProcess:
    """Runs functions one at a time in a process of their own, which is started anew if it dies.

    Args:
        module: imported beforehand; it has the functions.
        deadline: seconds after which a function is ended with its process: input can be made to take for ever.
    """

    def __init__(self, module: str, deadline: float) -> None:
        self._module = module
        self._deadline = deadline
        self._turn = Lock()
        self._limiter = CapacityLimiter(1)

    async def warm(self) -> None:
        """Start it, so that the first call does not wait for its imports."""
        await self.run(_prepare, self._module)

    async def run(self, function: Callable[[Unpack[Given]], Result], *given: *Given) -> Result:
        """What `function` returns or raises. When the caller is cancelled, so is the work: the process is killed.

        Raises:
            TimeoutError: it takes longer than the deadline; the time that others take before does not count.
        """
        async with self._turn:
            with fail_after(self._deadline):
                return await to_process.run_sync(
                    _prepared, self._module, function, *given, cancellable=True, limiter=self._limiter
                )


def _prepared(module: str, function: Callable[[*Given], Result], *given: *Given) -> Result:
    _prepare(module)
    return function(*given)


@cache
def _prepare(module: str) -> None:
    # A worker that is killed must not leave a computation behind.
    die_with_parent(signal.SIGKILL)
    # A document is millions of lists and no garbage: looking for some at the usual threshold takes a tenth of the time.
    gc.set_threshold(100_000, 20, 100)
    import_module(module)
    # Workers fill the machine; threads of linear algebra within each of them would get in each other's way. What is
    # limited is what has been loaded, by the import.
    threadpool_limits(1)
