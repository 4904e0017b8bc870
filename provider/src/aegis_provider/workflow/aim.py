"""What a release has to be."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from time import monotonic
from types import MappingProxyType
from typing import Any, Final

from aegis_provider.errors import PlanError
from aegis_provider.plan.model import Configuration
from aegis_provider.privacy import CRITERIA
from aegis_provider.search import Requirement, in_words
from aegis_sdk.wire import TRANSFER_MEASURES

# Counting and masking come after the search, and models are trained at last, so it takes less than half.
_SEARCH: Final = 0.45
_LEAST_OF_ALL_FOR_SEARCH: Final = 0.1
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
    anew, and what is measured by models and other attacks share what is left of the time. The search has a tenth of
    all, even if less is left.

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
        """The seconds of the search: a tenth of all at least, since generating tables may take the rest."""
        return max(_SEARCH * self.left, _LEAST_OF_ALL_FOR_SEARCH * self.seconds)

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


#: The numbers of k at which the frontier is drawn.
KS: Final = (2, 3, 5, 10, 20)

USUAL: Final[Mapping[str, float]] = MappingProxyType({"k": 5})


@dataclass(frozen=True)
class Aim:
    """What a release has to be.

    Attributes:
        label: The column that the others are to predict.
        require: The privacy it must have, by name.
        suppress_at_most: The share of records that may be left out for that.
        measure: The measure of utility.
        seconds: How long it may take; see `Deadline`.
        most: The most configurations that are published.
        generates: Whether generated tables are to stand beside the masked one.
    """

    label: str
    require: Mapping[str, float] = field(default_factory=lambda: dict(USUAL))
    suppress_at_most: float = 0.01
    measure: str = "joint"
    seconds: float = 60.0
    most: int = 200
    generates: bool = False

    def __post_init__(self) -> None:
        if self.generates and self.measure not in TRANSFER_MEASURES:
            raise PlanError(
                f"masked and generated tables are compared by {', '.join(TRANSFER_MEASURES)}; not by {self.measure}"
            )

    def requirements(self) -> list[Requirement]:
        """Return what the search has to meet: the aim itself, then the same with the other numbers of k."""
        first = Requirement(dict(self.require), self.suppress_at_most)
        return [first, *(replace(first, privacy=each) for each in self._other_ks())]

    def is_met_by(self, configuration: Configuration) -> bool:
        """Return whether a configuration reaches the privacy."""
        return all(_reaches(name, configuration.privacy.get(name), limit) for name, limit in self.require.items())

    def reaches(self, name: str, limit: float) -> bool:
        """Return whether all that meets the aim has this privacy, too."""
        return name in CRITERIA and _reaches(name, self.require.get(name), limit)

    def described(self) -> str:
        """Return the aim in words: `k = 5, at most 1 % of the records left out`."""
        return f"{in_words(self.require)}, at most {100 * self.suppress_at_most:.3g} % of the records left out"

    def as_json(self) -> dict[str, Any]:
        """Return all that the masked table depends on as JSON values."""
        return {
            "label": self.label,
            "require": dict(self.require),
            "suppress_at_most": self.suppress_at_most,
            "measure": self.measure,
            "seconds": self.seconds,
            "most": self.most,
        }

    def _other_ks(self) -> Iterator[dict[str, float]]:
        if "k" in self.require:
            yield from ({**self.require, "k": k} for k in KS if k != self.require["k"])


def _reaches(name: str, reached: float | None, limit: float) -> bool:
    if reached is None:
        return False
    return reached >= limit if CRITERIA[name].at_least else reached <= limit
