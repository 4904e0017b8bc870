"""How a benchmark takes time and memory, and prints them."""

import multiprocessing
import os
import platform
import re
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import ParamSpec, TypeVar

import numpy as np
import psutil

T = TypeVar("T")
P = ParamSpec("P")

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


def in_own_process(work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """What `work` returns in a process that has done nothing else, so that the memory is its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *arguments, **named).result()


def seconds_and_peak(work: Callable[[], object]) -> tuple[float, float]:
    """The seconds that `work` took, and the most memory that this process has ever held, in MB."""
    seconds, _ = timed(work)
    return seconds, peak_memory()


def peak_memory() -> float:
    """The most memory that this process has ever held, in MB (Linux); what started it does not count."""
    held = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
    return int(held[1]) * 1024 / MEGABYTE if held else float("nan")


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
