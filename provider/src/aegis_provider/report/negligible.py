"""Numbers too small to be shown one by one."""

from collections.abc import Sequence
from typing import Final

#: At most this share of the whole is negligible, all that is left out one by one together.
NEGLIGIBLE: Final = 0.02


def negligible(numbers: Sequence[float], whole: float) -> int:
    """Return how many of the last numbers are negligible together; 0 instead of 1, which has its own place anyway.

    Args:
        numbers: Numbers of at least 0, the largest first.
        whole: What they are a part of.
    """
    small, rest = 0, 0.0
    for number in reversed(numbers):
        rest += number
        if rest > NEGLIGIBLE * whole:
            break
        small += 1
    return small if small > 1 else 0
