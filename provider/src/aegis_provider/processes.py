"""Work in as many processes as there are cores; time limits of long work, and its reports of progress.

Imports little, because each process repeats the imports. Small models spend most of their time in Python, where threads
would block each other. Needs loky.
"""

import gc
import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from importlib import import_module
from math import inf
from multiprocessing import current_process
from threading import Thread
from time import monotonic, sleep
from typing import Any, Final, TypeAlias, TypeVar

from aegis_sdk import AegisError

T = TypeVar("T")

_WORTH: Final = 5_000
"""With fewer records, one process finishes before others have started."""
_MOST: Final = 8
"""More processes would take longer to start than they save."""
_WAITING: Final = 4
"""Calls per process in memory at a time."""
_IDLE: Final = 300
"""Seconds without work after which a process ends."""

_is_ready: Final = ContextVar("_is_ready", default=False)


@contextmanager
def processes_ready(records: int, module: str) -> Iterator[None]:
    """Start processes in the background, which takes seconds, and end them after the block.

    Args:
        records: How many records `results` and `begun` will work on.
        module: A module to import first, since the first calls need it.
    """
    pool = None
    with suppress(ModuleNotFoundError):  # reported where the extra is needed
        pool = _pool(records)
    ready = _is_ready.set(pool is not None)
    try:
        if pool is not None:
            for _ in range(_processes()):
                pool.submit(import_module, module)
        yield
    finally:
        _is_ready.reset(ready)
        if pool is not None:
            pool.shutdown(kill_workers=True)


def results(calls: Iterable[Callable[[], T]], records: int, end: float = inf) -> Generator[T, None, None]:
    """Make all calls in other processes, or in this one for few records; yield the results in order.

    Args:
        calls: Picklable callables with picklable results. Only a few are taken in advance.
        records: How many records they work on.
        end: The time, by the monotonic clock, at which other processes are stopped. What they have not finished is then
            called here, so calls return at once after that time.

    Raises:
        ModuleNotFoundError: The extra `check` is not installed.
        AegisError: A process ended before its work was done.
    """
    pool = _pool(records) if monotonic() < end else None
    if pool is None:
        yield from (call() for call in calls)
        return
    waiting: deque[tuple[Callable[[], T], Future[T] | None]] = deque()
    try:
        for call in calls:
            waiting.append((call, pool.submit(call) if monotonic() < end else None))
            if len(waiting) >= _WAITING * _processes():
                yield _result_by(end, pool, *waiting.popleft())
        while waiting:
            yield _result_by(end, pool, *waiting.popleft())
    except BrokenProcessPool as error:
        raise AegisError("a process that trained models was ended; is there enough memory?") from error
    finally:
        if not all(
            future is None or future.done() for _, future in waiting
        ):  # Ctrl-C, an error, or nobody wants the rest
            pool.shutdown(kill_workers=True)


def _result_by(end: float, pool: Any, call: Callable[[], T], future: "Future[T] | None") -> T:  # noqa: ANN401 - as `_pool`
    """Return the result of a call begun in another process; at `end`, stop all of these, and call it here."""
    if future is None:
        return call()
    try:
        return future.result(None if end == inf else max(0.0, end - monotonic()))
    except (TimeoutError, RuntimeError):  # it takes longer, or was stopped with one that did
        if monotonic() < end:
            raise
        pool.shutdown(kill_workers=True)
        return call()


def begun(calls: Sequence[Callable[[], T]], records: int) -> list[Callable[[], T]]:
    """Start the first calls in the background, one per process, if processes are ready.

    After its call, if any, each process imports the libraries that train models.

    Args:
        calls: As in `results`. The caller makes the rest.
        records: As in `results`.

    Returns:
        For each started call, a function that waits for its result, and makes the call here if its process ended.
    """
    pool = _pool(records) if _is_ready.get() else None
    if pool is None:
        return []
    made = calls[: _processes()]
    waiting: list[Callable[[], T]] = [partial(_result_of, pool.submit(_made, call), call) for call in made]
    for _ in range(_processes() - len(made)):
        pool.submit(_made, _nothing)
    return waiting


def _processes() -> int:
    from loky import cpu_count  # noqa: PLC0415 - an extra

    return min(int(cpu_count()), _MOST)


def _pool(records: int) -> Any:  # noqa: ANN401 - an executor, which has no types
    """Return the pool, or `None` if one process is enough or others cannot start."""
    from loky import get_reusable_executor  # noqa: PLC0415 - an extra

    if records < _WORTH or _processes() == 1 or current_process().daemon:
        return None
    try:
        return get_reusable_executor(_processes(), timeout=_IDLE, initializer=_get_ready)
    except (ImportError, OSError):  # the system has no semaphores
        return None


def _get_ready() -> None:
    """Leave Ctrl-C to the parent process, and end with it."""
    # At the usual threshold, garbage collection takes a fifth of the import time, and modules are not garbage.
    gc.set_threshold(100_000, 20, 100)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_after, args=[os.getppid()], daemon=True).start()


def _made(call: Callable[[], T]) -> T:
    """Return the result of a call, and import what trains models while it is sent."""
    result = call()
    Thread(target=import_module, args=["sklearn.ensemble"], daemon=True).start()
    return result


def _result_of(future: Future[T], call: Callable[[], T]) -> T:
    try:
        return future.result()
    except BrokenProcessPool:
        return call()


def _nothing() -> None:
    pass


def _end_after(parent: int) -> None:
    while os.getppid() == parent:
        sleep(1)
    os._exit(1)


Progress: TypeAlias = Callable[[int, int], None]
"""Called with (done, total)."""

Stage: TypeAlias = Callable[[str], AbstractContextManager[Progress]]
"""Shows the start and progress of a step of long work."""


@contextmanager
def unseen(_step: str) -> Iterator[Progress]:
    """Show nothing."""
    yield lambda _done, _all: None


def after(seconds: float | None) -> Callable[[], bool]:
    """Return a function that is true once this much time has passed since now; `None` is never."""
    end = None if seconds is None else monotonic() + seconds
    return lambda: end is not None and monotonic() > end
