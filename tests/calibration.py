"""A fixed piece of work: what it takes tells how fast a machine is just now."""

import time

import numpy as np

ROUNDS = 54


def calibration_seconds() -> float:
    """Seconds of work that took one second on two idle cores of a cloud machine in 2026, half of it Python's."""
    start = time.perf_counter()
    rng = np.random.default_rng(0)
    for _ in range(ROUNDS):
        sum(number * number % 7 for number in range(120_000))
        np.sort(rng.random(150_000))
    return time.perf_counter() - start
