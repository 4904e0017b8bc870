"""The time limit of a release, and what each of its steps gets of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

# The search gets less than half: counting, masking and training models follow.
_SEARCH: Final = 0.45
_LEAST_OF_ALL_FOR_SEARCH: Final = 0.1
_ROUNDING: Final = 0.3
_CHECK: Final = 0.9
_CHECK_BEFORE_COMPARING: Final = 0.5
_FOLD: Final = 0.2

_VERDICT: Final = 0.6

# A verdict usually takes less than a second, and an undecided one does not pass.
_LEAST_FOR_A_VERDICT: Final = 10.0

# Counting, masking and measuring privacy take as long as what came before the search, each.
_WHOLE_AFTER_SEARCH: Final = 3


@dataclass(frozen=True)
class Deadline:
    """The deadline of a release.

    Essential steps always finish, whatever they take: reading, drafting, counting, masking, measuring privacy, and
    generating tables before the search with the attacks on them. The search, repeated rounding, verdicts, models and
    further attacks share the remaining time. The search gets at least a tenth of the total.

    Attributes:
        clock: The time, in seconds.
        reserved: The seconds that essential steps after the search are expected to take.
    """

    seconds: float
    clock: Callable[[], float] = monotonic
    reserved: float = field(init=False, default=0.0)
    _end: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_end", self.clock() + self.seconds)

    @property
    def left(self) -> float:
        """The remaining seconds, 0 or more."""
        return max(0.0, self._end - self.clock())

    def reserve(self) -> bool:
        """Reserve time for the essential steps, by what drafting took; return whether there is as much."""
        object.__setattr__(self, "reserved", _WHOLE_AFTER_SEARCH * (self.seconds - self.left))
        return self.reserved <= self.left

    def is_over(self) -> bool:
        """Return whether no time remains."""
        return self.left <= 0

    @property
    def for_search(self) -> float:
        """The seconds of the search: at least a tenth of the total, since generating tables may take the rest."""
        return max(_SEARCH * (self.left - self.reserved), _LEAST_OF_ALL_FOR_SEARCH * self.seconds)

    @property
    def for_rounding(self) -> float:
        """The seconds after which rounding is not repeated."""
        return _ROUNDING * self.left

    @property
    def for_verdict(self) -> float:
        """The seconds after which a verdict is undecided; another verdict and models follow."""
        return max(_VERDICT * self.left, _LEAST_FOR_A_VERDICT)

    def for_check(self, *, compares: bool) -> tuple[float, float]:
        """Return the seconds after which training ends, and those of the search in each of the three folds.

        Args:
            compares: Whether a comparison with generated tables follows.
        """
        seconds = round((_CHECK_BEFORE_COMPARING if compares else _CHECK) * self.left, 1)  # people read it
        return seconds, _FOLD * seconds
