"""What there is to know of a criterion of privacy."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counts import Counts
from aegis_provider.privacy.classes import Classes, SensitiveCounts
from aegis_sdk.wire import PRIVACY_CRITERIA

Numbers: TypeAlias = NDArray[np.float64]

# Entropies and distances are sums of fractions: what differs by less is rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class Criterion:
    """A criterion of privacy. One with neither `of_sizes` nor `of_values` is vouched for and never measured.

    Attributes:
        name: As the contract has it.
        word: What the literature calls it.
        meaning: For someone who decides by it and does not compute it.
        axis: The meaning in a few words, beside the numbers of a figure.
        consequence: What it means for the worst class that a release reaches a number.
        of_sizes: (classes,) the number of each class, from (classes,) their sizes.
        of_values: (classes,) the number of each class, from how often it has each value of a sensitive attribute.
        is_whole: Whether it counts something, so that there is nothing between two whole numbers.
        compares: Whether it compares a class with the whole table.
        survives_merged_classes: Whether a union of classes is never worse than the worst of them. If not, a search
            has to look at every combination of maskings.
        survives_merged_values: Whether a class is never worse for sensitive values that are made one.
    """

    name: str
    word: str
    meaning: str
    axis: str
    consequence: Callable[[float], str]
    of_sizes: Callable[[Counts], Numbers] | None = None
    of_values: Callable[[Classes, SensitiveCounts], Numbers] | None = None
    is_whole: bool = False
    compares: bool = False
    survives_merged_classes: bool = False
    survives_merged_values: bool = False

    @property
    def at_least(self) -> bool:
        """Whether it promises at least a number, and not at most one: more is more private."""
        return PRIVACY_CRITERIA[self.name] == "higher"

    @property
    def sign(self) -> str:
        """Between the name and a promise."""
        return ">=" if self.at_least else "<="

    @property
    def is_measured(self) -> bool:
        """Whether a table shows it."""
        return self.of_sizes is not None or self.of_values is not None

    @property
    def needs_sensitive(self) -> bool:
        """Whether it is measured on the values of a sensitive attribute."""
        return self.of_values is not None

    def shows_in(self, classes: Classes) -> bool:
        """Whether it can be measured on these classes."""
        return self.is_measured and (bool(classes.sensitive) or not self.needs_sensitive)

    def by_class(self, classes: Classes) -> Numbers:
        """(classes,) its number for each class; of several sensitive attributes the worst counts."""
        if self.of_sizes is not None:
            return self.of_sizes(classes.sizes)
        if self.of_values is None or not classes.sensitive:
            raise ValueError(f"{self.name} cannot be measured on these classes")
        if not len(classes):
            return np.zeros(0)
        numbers = [self.of_values(classes, counts) for counts in classes.sensitive.values()]
        return reduce(np.minimum if self.at_least else np.maximum, numbers)

    def reached(self, classes: Classes) -> int | float:
        """What the worst of the classes does, of which there is at least one."""
        numbers = self.by_class(classes)
        worst = float(numbers.min() if self.at_least else numbers.max())
        return int(worst) if self.is_whole else worst

    def held(self, values: Numbers | np.float64, limit: float) -> NDArray[np.bool_]:
        """(values,) which of them keep the promise `limit`; rounding breaks none."""
        slack = _ROUNDING * max(1.0, abs(limit))
        return np.asarray(values >= limit - slack if self.at_least else values <= limit + slack)
