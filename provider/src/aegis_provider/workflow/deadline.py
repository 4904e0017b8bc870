"""The time limit of a release, and what each of its steps gets of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

OVER: Final = "time was up before that began; more --seconds may do"

# The search gets less than half: counting, masking and training models follow.
_SEARCH: Final = 0.45
_ROUNDING: Final = 0.3
_CHECK: Final = 0.9
_CHECK_BEFORE_COMPARING: Final = 0.5
_FOLD: Final = 0.2

_VERDICT: Final = 0.6

# A verdict usually takes less than a second, and an undecided one does not pass.
_LEAST_FOR_A_VERDICT: Final = 10.0

# Counting, masking and measuring privacy take up to twice as long as what came before the search, and masking a fold
# for models, which is not stopped, less than half as long.
_WHOLE_AFTER_SEARCH: Final = 2
_MASKING_A_FOLD: Final = 0.4


@dataclass(frozen=True)
class Deadline:
    """The deadline of a release.

    Essential steps always finish, whatever they take: reading, drafting, counting, masking, measuring privacy, and
    generating tables before the search with the attacks on them. The search, repeated rounding, verdicts, models and
    further attacks share the remaining time. A greedy descent always runs whole, and a verdict has ten seconds.

    Attributes:
        clock: The time, in seconds.
        before: The seconds that the steps before the search took.
    """

    seconds: float
    clock: Callable[[], float] = monotonic
    before: float = field(init=False, default=0.0)
    _end: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_end", self.clock() + self.seconds)

    @property
    def left(self) -> float:
        """The remaining seconds, 0 or more."""
        return max(0.0, self._end - self.clock())

    def reserve(self) -> bool:
        """Reserve time for the essential steps, by what came before the search; return whether there is as much."""
        object.__setattr__(self, "before", self.clock() + self.seconds - self._end)
        return self._reserved <= self.left

    @property
    def _reserved(self) -> float:
        return _WHOLE_AFTER_SEARCH * self.before

    def is_over(self) -> bool:
        """Return whether no time remains."""
        return self.left <= 0

    def is_over_for_models(self) -> bool:
        """Return whether what remains is too little to train one."""
        return self.for_check(compares=False)[0] <= 0

    @property
    def for_search(self) -> float:
        """The seconds of the search beyond a greedy descent."""
        return max(_SEARCH * (self.left - self._reserved), 0.0)

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
        share = _CHECK_BEFORE_COMPARING if compares else _CHECK
        seconds = max(0.0, round(share * self.left - _MASKING_A_FOLD * self.before, 1))  # people read it
        return seconds, _FOLD * seconds
