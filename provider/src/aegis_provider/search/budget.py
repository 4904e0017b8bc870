"""What a search may spend: evaluations by its effort, and the time after which it stops."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic
from types import MappingProxyType
from typing import Final

from aegis_provider.errors import PlanError, nearest
from aegis_provider.processes import Progress

_PARTS: Final = 1000


class SearchEndedError(Exception):
    """The search of a requirement ends here; the results so far are valid."""


class TimeIsUpError(SearchEndedError):
    """The time is up."""


class WorkIsDoneError(SearchEndedError):
    """The evaluations that the effort allows are made."""


EFFORTS: Final[Mapping[str, int]] = MappingProxyType({"small": 8_000, "normal": 40_000, "thorough": 400_000})
"""By effort, the evaluations of a search, which its requirements share alike. Work, unlike time, does not depend on how
busy a machine is, so that equal searches end with equal results.
"""


def work_of(effort: str, requirements: int) -> int:
    """Return the evaluations for each of so many requirements.

    Raises:
        PlanError: There is no such effort.
    """
    if effort not in EFFORTS:
        raise PlanError(f"there is no effort {effort!r}; {nearest(effort, list(EFFORTS))}")
    return max(1, EFFORTS[effort] // requirements)


@dataclass(eq=False)
class Clock:
    """Stops a search that takes too long. Its requirements share the seconds; the next ones get what one leaves.

    `seconds`: for all requirements; `progress`: called with (done, total), counting thousandths of a requirement.
    """

    seconds: float
    requirements: int
    progress: Progress
    done: int = 0
    _started: float = field(default_factory=monotonic)
    _from: float = field(default_factory=monotonic)

    def alone(self) -> "Clock":
        """Return a clock for the remaining time, which reports nothing."""
        return Clock(max(0.0, self._started + self.seconds - monotonic()), 1, _unseen)

    def next(self) -> None:
        """Begin with the next requirement."""
        self.done, self._from = self.done + 1, monotonic()

    def left(self) -> float:
        """Return the remaining share of the current requirement's time, from 1 to 0."""
        remaining = self._started + self.seconds - self._from
        mine = remaining / max(self.requirements - self.done, 1)
        return max(0.0, 1 - (monotonic() - self._from) / mine) if mine > 0 else 0.0

    def tick(self, done: int = 0, total: int = 1) -> None:
        """Report progress: the elapsed time, or the work done if that is more.

        Raises:
            TimeIsUpError: The time of this requirement is up.
        """
        left = self.left()
        share = max(1 - left, done / max(total, 1))
        self.progress(int((self.done + min(share, 1.0)) * _PARTS), self.requirements * _PARTS)
        if left <= 0:
            raise TimeIsUpError


def _unseen(_done: int, _all: int) -> None:
    """Show nothing. Unlike a lambda, it can be sent to another process."""
