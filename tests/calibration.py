"""A fixed piece of work, whose duration shows how fast the machine is at the moment."""

import time

import numpy as np

ROUNDS = 54


def calibration_seconds() -> float:
    """Seconds that the work takes, half of it in Python: one on two idle cores of a cloud machine in 2026."""
    start = time.perf_counter()
    rng = np.random.default_rng(0)
    for _ in range(ROUNDS):
        sum(number * number % 7 for number in range(120_000))
        np.sort(rng.random(150_000))
    return time.perf_counter() - start
