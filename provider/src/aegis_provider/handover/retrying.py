"""Retries of work after transient failures."""

import random
import time
from collections.abc import Callable
from typing import Final, TypeVar

Result = TypeVar("Result")

TRIES: Final = 5
SHORTEST: Final = 0.5
LONGEST: Final = 300.0


def pause(failures: int, shortest: float = SHORTEST, longest: float = LONGEST) -> float:
    """Return the seconds to wait after this many consecutive failures, doubling each time.
    A random share is subtracted, so that clients that failed together do not retry together.
    """
    upper = min(longest, shortest * 2.0 ** min(failures, 32))
    return upper * random.uniform(0.5, 1.0)  # noqa: S311 - no secret


def retried(work: Callable[[], Result], may_pass: Callable[[Exception], bool], tries: int = TRIES) -> Result:
    """Return the result of some work, which is retried while its failures are transient.

    Raises:
        Exception: The last failure.
    """
    for failures in range(1, tries):
        try:
            return work()
        except Exception as error:
            if not may_pass(error):
                raise
            time.sleep(pause(failures))
    return work()
