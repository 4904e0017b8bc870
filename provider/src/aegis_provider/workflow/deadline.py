"""When a release is to be done, and how much of the time that is left each of its steps may take."""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

# Counting and masking come after the search, and models are trained at last, so it takes less than half.
_SEARCH: Final = 0.45
_ROUNDING: Final = 0.3
_CHECK: Final = 0.9
_CHECK_BEFORE_COMPARING: Final = 0.5
_FOLD: Final = 0.2

# A verdict usually takes less than a second, and an undecided one is no pass.
_LEAST_FOR_A_VERDICT: Final = 10.0


@dataclass(frozen=True)
class Deadline:
    """When a release is to be done.

    What makes it a release is done whole, whatever time it takes: reading, drafting, counting, masking, and measuring
    privacy; and so are the tables that are generated before the search, with the attacks on them. The search, rounding
    anew, and what is measured by models and other attacks share what is left of the time.

    Attributes:
        seconds: How long it may take.
        clock: The time, in seconds.
    """

    seconds: float
    clock: Callable[[], float] = monotonic
    _end: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_end", self.clock() + self.seconds)

    @property
    def left(self) -> float:
        """The seconds that are left, 0 or more."""
        return max(0.0, self._end - self.clock())

    def is_over(self) -> bool:
        """Return whether none are left."""
        return self.left <= 0

    @property
    def for_search(self) -> float:
        """The seconds of the search."""
        return _SEARCH * self.left

    @property
    def for_rounding(self) -> float:
        """The seconds after which rounding is not drawn anew."""
        return _ROUNDING * self.left

    @property
    def for_verdict(self) -> float:
        """The seconds after which a verdict is undecided."""
        return max(self.left, _LEAST_FOR_A_VERDICT)

    def for_check(self, *, compares: bool) -> tuple[float, float]:
        """Return the seconds after which no model is trained, and those of the search in each of its three folds.

        Args:
            compares: Whether releases are compared with generated tables after it.
        """
        seconds = round((_CHECK_BEFORE_COMPARING if compares else _CHECK) * self.left, 1)  # people read it
        return seconds, _FOLD * seconds
