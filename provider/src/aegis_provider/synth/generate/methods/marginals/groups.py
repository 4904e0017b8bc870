"""Levels that are too rare for the noise, put together."""

from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from aegis_provider.synth.generate.levels import Codes
from aegis_provider.synth.generate.methods.conditional import Conditional

_DEVIATIONS: Final = 3
"""A group has a noisy count of this many standard deviations of its noise, as in MST."""


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of the levels of a column.

    Attributes:
        of_level: (levels,) The group of each level.
        noisy: (levels,) The noisy count of each level.
        deviation: The standard deviation of the noise.
    """

    of_level: Codes
    noisy: NDArray[np.float64]
    deviation: float

    @classmethod
    def of(cls, noisy: NDArray[np.float64], deviation: float, *, ordered: bool) -> Self:
        """Put rare levels together: with their neighbours if they are ordered, otherwise all in one group (MST)."""
        rare = noisy < _DEVIATIONS * deviation
        if ordered:
            return cls(_neighbours(noisy, deviation), noisy, deviation)
        of_level = np.cumsum(~rare) - 1
        of_level[rare] = of_level[-1] + 1
        return cls(of_level, noisy, deviation)

    @property
    def size(self) -> int:
        """How many groups there are."""
        return int(self.of_level.max()) + 1

    @property
    def levels(self) -> NDArray[np.int64]:
        """(groups,) How many levels each group has."""
        return np.bincount(self.of_level)

    @property
    def counts(self) -> NDArray[np.float64]:
        """(groups,) The noisy count of each group. Its noise has `levels` times the variance of a level's."""
        return np.bincount(self.of_level, self.noisy).astype(np.float64)

    def within(self) -> Conditional:
        """Return the levels of each group, by their noisy counts; with equal shares if none of these is above 0."""
        weights = np.maximum(self.noisy, 0.0)
        nothing = np.bincount(self.of_level, weights)[self.of_level] == 0
        weights[nothing] = 1.0
        cells = np.argsort(self.of_level, kind="stable")
        cells = cells[weights[cells] > 0]
        return Conditional.of_cells(self.of_level[cells], cells, weights[cells], self.size)


def _neighbours(noisy: NDArray[np.float64], deviation: float) -> Codes:
    """(levels,) Group levels in their order, each group as soon as its count stands out from its noise."""
    of_level = np.zeros(len(noisy), dtype=np.intp)
    group, count, levels = 0, 0.0, 0
    for level, each in enumerate(noisy):
        of_level[level] = group
        count, levels = count + each, levels + 1
        if count >= _DEVIATIONS * deviation * np.sqrt(levels):
            group, count, levels = group + 1, 0.0, 0
    if levels and group:
        of_level[of_level == group] = group - 1
    return of_level
