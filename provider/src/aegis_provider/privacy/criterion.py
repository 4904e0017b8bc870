"""The record of a privacy criterion."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import reduce
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counts import Counts
from aegis_provider.privacy.classes import Classes, SensitiveCounts
from aegis_sdk.wire import PRIVACY_CRITERIA

Numbers: TypeAlias = NDArray[np.float64]

# Entropies and distances are sums of fractions: smaller differences are rounding errors.
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class Criterion:
    """A privacy criterion. One with neither `of_sizes` nor `of_values` is only declared, never measured.

    Attributes:
        name: Its name in the contract.
        word: Its name in the literature.
        meaning: An explanation for people who decide by it without computing it.
        axis: The meaning in a few words, for the axis of a figure.
        consequence: Explains a value of the worst class.
        of_sizes: Computes (classes,) the value of each class from (classes,) their sizes.
        of_values: Computes (classes,) the value of each class from its counts of a sensitive attribute's values.
        is_whole: Whether its values are whole numbers.
        compares: Whether it compares a class with the whole table.
        needs_order: Whether it depends on the order of the sensitive values, which must be meaningful.
        survives_merged_classes: Whether a union of classes is never worse than the worst of them. If not, a search has
            to evaluate every combination of maskings.
        survives_merged_values: Whether merging sensitive values never makes a class worse.
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
    needs_order: bool = False
    survives_merged_classes: bool = False
    survives_merged_values: bool = False

    @property
    def at_least(self) -> bool:
        """Whether a promise is a lower limit: more is more private."""
        return PRIVACY_CRITERIA[self.name] == "higher"

    @property
    def sign(self) -> str:
        """The sign between the name and a promise."""
        return ">=" if self.at_least else "<="

    @property
    def is_measured(self) -> bool:
        """Whether it can be measured in a table."""
        return self.of_sizes is not None or self.of_values is not None

    @property
    def needs_sensitive(self) -> bool:
        """Whether it is measured on the values of a sensitive attribute."""
        return self.of_values is not None

    def shows_in(self, classes: Classes) -> bool:
        """Whether it can be measured on these classes."""
        if not self.needs_sensitive:
            return self.is_measured
        ordered = not self.needs_order or all(counts.ordered for counts in classes.sensitive.values())
        return bool(classes.sensitive) and ordered

    def by_class(self, classes: Classes) -> Numbers:
        """Return (classes,) its value for each class: the worst of all sensitive attributes."""
        if self.of_sizes is not None:
            return self.of_sizes(classes.sizes)
        if self.of_values is None or not classes.sensitive:
            raise ValueError(f"{self.name} cannot be measured on these classes")
        if not len(classes):
            return np.zeros(0)
        numbers = [self.of_values(classes, counts) for counts in classes.sensitive.values()]
        return reduce(np.minimum if self.at_least else np.maximum, numbers)

    def reached(self, classes: Classes) -> int | float:
        """Return the value of the worst class; there must be at least one class."""
        numbers = self.by_class(classes)
        worst = float(numbers.min() if self.at_least else numbers.max())
        return int(worst) if self.is_whole else worst

    def held(self, values: Numbers | np.float64, limit: float) -> NDArray[np.bool_]:
        """Return (values,) which values meet the promise `limit`, within rounding errors."""
        slack = _ROUNDING * max(1.0, abs(limit))
        return np.asarray(values >= limit - slack if self.at_least else values <= limit + slack)


def two_digits(name: str, number: float) -> int | float:
    """Round a value of a criterion to two significant digits, never to a stronger promise."""
    exact = Decimal(repr(number))
    if exact.is_zero():
        return number
    rounding = ROUND_FLOOR if PRIVACY_CRITERIA[name] == "higher" else ROUND_CEILING
    rounded = exact.quantize(Decimal(1).scaleb(exact.adjusted() - 1), rounding)
    return int(rounded) if isinstance(number, int) else float(rounded)
