"""Work in processes of its own, one after the other, and how much memory it takes there."""

from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from resource import RUSAGE_SELF, getrusage

import psutil


def own_processes(*modules: str) -> Executor:
    """Return what runs each call in a process of its own, which begins with these modules loaded.

    The first call decides which: they are loaded once, in the process that all others are forked from.
    """
    context = get_context("forkserver")
    context.set_forkserver_preload(list(modules))
    return ProcessPoolExecutor(1, context, max_tasks_per_child=1)


def resident() -> int:
    """Return the bytes of memory that this process has now."""
    return int(psutil.Process().memory_info().rss)


def grown(before: int) -> float:
    """Return the megabytes by which the most memory of this process exceeds what it had before.

    It must be a process of its own: the most it ever had counts.
    """
    return max(0.0, (getrusage(RUSAGE_SELF).ru_maxrss * 1024 - before) / 1e6)
