"""The time that a search may take."""

from dataclasses import dataclass, field
from time import monotonic
from typing import Final

from aegis_provider.progress import Progress

_PARTS: Final = 1000


class TimeIsUpError(Exception):
    """The time is up; what was found until then counts."""


@dataclass(eq=False)
class Clock:
    """Shares the seconds of a search among its requirements, one after another; what one leaves, the next ones get.

    Attributes:
        seconds: The seconds for all requirements.
        requirements: How many requirements there are.
        progress: Called with thousandths of a requirement, those done and all.
        done: How many requirements are done.
    """

    seconds: float
    requirements: int
    progress: Progress
    done: int = 0
    _started: float = field(default_factory=monotonic)
    _from: float = field(default_factory=monotonic)

    def alone(self) -> "Clock":
        """Return a clock for the time that is left, which reports nothing."""
        return Clock(max(0.0, self._started + self.seconds - monotonic()), 1, _unseen)

    def next(self) -> None:
        """Begin with the next requirement."""
        self.done, self._from = self.done + 1, monotonic()

    def left(self) -> float:
        """Return how much of the present requirement's time is left, from 1 to 0."""
        remaining = self._started + self.seconds - self._from
        mine = remaining / max(self.requirements - self.done, 1)
        return max(0.0, 1 - (monotonic() - self._from) / mine) if mine > 0 else 0.0

    def tick(self, done: int = 0, total: int = 1) -> None:
        """Report progress: the time, or a part of the work if more of that is done.

        Raises:
            TimeIsUpError: The time of this requirement is up.
        """
        left = self.left()
        share = max(1 - left, done / max(total, 1))
        self.progress(int((self.done + min(share, 1.0)) * _PARTS), self.requirements * _PARTS)
        if left <= 0:
            raise TimeIsUpError


def _unseen(_done: int, _all: int) -> None:
    """Show nothing. Other than a lambda, it can be sent to another process."""
