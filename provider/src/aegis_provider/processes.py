"""Work in as many processes as there are cores. Imports little, because each of these processes does, too.

Small models spend most of their time in Python, where threads would wait for each other. Needs loky.
"""

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from importlib import import_module
from threading import Thread
from time import sleep
from typing import Any, Final, TypeVar

T = TypeVar("T")

_WORTH: Final = 5_000
"""With fewer records, one process has done all work before others have started."""
_IDLE: Final = 300
"""After so many seconds without work, a process ends."""


@contextmanager
def processes_ready(records: int) -> Iterator[None]:
    """Have processes start in the background, which takes them seconds, and end them after the block.

    Args:
        records: How many records `results` will work on.
    """
    try:
        with suppress(ModuleNotFoundError):  # who needs the extra says so
            if _are_worth(records):
                _pool().submit(_nothing)
        yield
    finally:
        with suppress(ModuleNotFoundError):
            if _are_worth(records):
                _pool().shutdown(kill_workers=True)


def results(calls: Iterable[Callable[[], T]], records: int) -> Iterator[T]:
    """Make all calls in other processes, or in this one if the records are few; yield the results in turn.

    Args:
        calls: What to call. It is picklable, and so is the result. Calls are taken one by one, while those before are
            being made.
        records: How many records they work on.

    Raises:
        ModuleNotFoundError: The extra `check` is not installed.
    """
    if not _are_worth(records):
        yield from (call() for call in calls)
        return
    pool = _pool()
    waiting: list[Future[T]] = []
    try:
        waiting.extend(pool.submit(call) for call in calls)
        for each in waiting:
            yield each.result()
    finally:
        if not all(each.done() for each in waiting):  # Ctrl-C, an error, or nobody wants the rest
            pool.shutdown(kill_workers=True)


def _are_worth(records: int) -> bool:
    from loky import cpu_count  # noqa: PLC0415 - an extra

    return records >= _WORTH and cpu_count() > 1


def _pool() -> Any:  # noqa: ANN401 - an executor, which has no types
    from loky import cpu_count, get_reusable_executor  # noqa: PLC0415 - an extra

    return get_reusable_executor(cpu_count(), timeout=_IDLE, initializer=_get_ready)


def _get_ready() -> None:
    """Import what takes long, leave Ctrl-C to the process that waits for the results, and end when that is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_after, args=[os.getppid()], daemon=True).start()
    import_module("sklearn.ensemble")


def _nothing() -> None:
    pass


def _end_after(parent: int) -> None:
    while os.getppid() == parent:
        sleep(1)
    os._exit(1)
