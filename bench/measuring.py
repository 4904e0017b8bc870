"""Measures and prints the time and memory of benchmarks."""

import multiprocessing
import os
import platform
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import ParamSpec, TypeVar

import numpy as np
import psutil

T = TypeVar("T")
P = ParamSpec("P")

MILLISECONDS = 1e3
MEGABYTE = 1e6


def run(*benchmarks: Callable[[], None]) -> None:
    """Run benchmarks one after the other, and print the machine and its load before and after each."""
    memory = psutil.virtual_memory().total / 2**30
    print(f"{os.cpu_count()} cores ({platform.machine()}), {memory:.0f} GiB, {platform.system()},", end=" ")
    print(f"Python {platform.python_version()}; load {psutil.getloadavg()[0]:.1f}")
    for benchmark in benchmarks:
        benchmark()
        print(f"\n(load of the last minute: {psutil.getloadavg()[0]:.1f})", flush=True)


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Return the seconds that `work` took, and its result."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def in_own_process(work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """Run `work` in a fresh process, for its own memory, and return its result."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *arguments, **named).result()


def seconds_and_peak(work: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds that `work` took, and the peak memory of this process in MB."""
    seconds, _ = timed(work)
    return seconds, peak_memory()


def peak_memory() -> float:
    """Return the peak memory of this process in MB (Linux), without that of its parent."""
    held = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
    return int(held[1]) * 1024 / MEGABYTE if held else float("nan")


@contextmanager
def repeated(work: Callable[[], object], seconds: float) -> Iterator[None]:
    """Call `work` every `seconds` during the block in a thread, first at once, and a last time at the end.

    Its exception is raised when the block ends; otherwise incomplete results would pass for complete ones.
    """
    over = threading.Event()

    def go_on() -> None:
        work()
        while not over.wait(seconds):
            work()
        work()

    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(go_on)
        try:
            yield
        finally:
            over.set()
        working.result()


def core_seconds(*roots: psutil.Process) -> float:
    """The core seconds of processes and all their descendants, also ended ones.

    A parent inherits the times of ended children (Linux), so the sum does not shrink when a process ends.
    """
    return sum(_own_and_inherited(one) for root in roots for one in family(root))


def core_seconds_of_children(process: psutil.Process) -> float:
    """The core seconds of all descendants of a process, also ended ones."""
    return core_seconds(process) - float(sum(process.cpu_times()[:2]))


def family(root: psutil.Process) -> list[psutil.Process]:
    """A process and its descendants; none if it has ended."""
    try:
        return [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _own_and_inherited(process: psutil.Process) -> float:
    try:
        return float(sum(process.cpu_times()[:4]))
    except psutil.NoSuchProcess:  # its parent has its times by now
        return 0.0


def percentile(seconds: Sequence[float], percent: float) -> float:
    """Return the percentile of durations (in seconds) in milliseconds."""
    return float(np.percentile(seconds, percent)) * MILLISECONDS


def spread(seconds: Sequence[float]) -> str:
    """Describe durations by median, tail and number."""
    p50, p90, p99 = (percentile(seconds, percent) for percent in (50, 90, 99))
    return f"p50 {p50:7.1f} ms   p90 {p90:7.1f} ms   p99 {p99:7.1f} ms   ({len(seconds)} times)"


def verdict(*, met: bool, target: str) -> str:
    """Describe a target, and whether this run met it."""
    return f"[target {target}: {'met' if met else 'MISSED'}]"


def heading(text: str) -> None:
    """Print the heading of a part of the output."""
    print(f"\n{text}\n{'-' * len(text)}")


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table, all columns flush right."""
    widths = [max(map(len, cells)) for cells in zip(columns, *rows, strict=True)]
    for row in (columns, *rows):
        print("   ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))
