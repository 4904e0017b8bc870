"""A fixed piece of work, whose duration shows how fast a machine is at the moment."""

import subprocess
import sys
import time

import numpy as np

ROUNDS, BLOCKS = 54, 20

#: Seconds that the work takes where it gives 1: on two idle cores of a cloud machine in 2026.
REFERENCE = 1.6


def calibration_seconds() -> float:
    """Measure what tests spend their time on: Python, NumPy, fresh memory, and the start of a process.

    The unit is the reference, set so that this gives 1.5 where the suite takes 1.5 times what it took as its budgets
    were set. A slow machine need not be slow at all four, so the sum of them counts.
    """
    start = time.perf_counter()
    rng = np.random.default_rng(0)
    for _ in range(ROUNDS):
        sum(number * number % 7 for number in range(120_000))
        np.sort(rng.random(150_000))
    for _ in range(BLOCKS):
        np.empty(64 * 2**20, dtype=np.uint8)[::4096] = 1
    subprocess.run([sys.executable, "-c", "import numpy, scipy.optimize, pandas"], check=True)
    return (time.perf_counter() - start) / REFERENCE
