"""How a benchmark takes the time and prints it."""

import os
import platform
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
import psutil

T = TypeVar("T")

MILLISECONDS = 1e3
MEGABYTE = 1e6


def run(*benchmarks: Callable[[], None]) -> None:
    """Run benchmarks one after the other, and say on what machine, and how busy it was before and is after each."""
    memory = psutil.virtual_memory().total / 2**30
    print(f"{os.cpu_count()} cores ({platform.machine()}), {memory:.0f} GiB, {platform.system()},", end=" ")
    print(f"Python {platform.python_version()}; load {psutil.getloadavg()[0]:.1f}")
    for benchmark in benchmarks:
        benchmark()
        print(f"\n(load of the last minute: {psutil.getloadavg()[0]:.1f})", flush=True)


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """The seconds that `work` took, and what it returned."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def percentile(seconds: Sequence[float], percent: float) -> float:
    """The percentile of durations, in milliseconds."""
    return float(np.percentile(seconds, percent)) * MILLISECONDS


def spread(seconds: Sequence[float]) -> str:
    """Median, tail and number of durations."""
    p50, p90, p99 = (percentile(seconds, percent) for percent in (50, 90, 99))
    return f"p50 {p50:7.1f} ms   p90 {p90:7.1f} ms   p99 {p99:7.1f} ms   ({len(seconds)} times)"


def verdict(*, met: bool, target: str) -> str:
    """A target, and whether this run met it."""
    return f"[target {target}: {'met' if met else 'MISSED'}]"


def heading(text: str) -> None:
    """Begin a part of the output."""
    print(f"\n{text}\n{'-' * len(text)}")


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Rows below their columns, all flush right."""
    widths = [max(map(len, cells)) for cells in zip(columns, *rows, strict=True)]
    for row in (columns, *rows):
        print("   ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))
