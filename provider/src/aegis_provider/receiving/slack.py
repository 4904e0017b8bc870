"""How far the counts of a delivered table may be from published ones."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.evidence.perturbation import IMPLAUSIBLE, largest_noise
from aegis_provider.counting.counts import Counts
from aegis_sdk.wire import DisclosureControl, Evidence, Inexact

Rows: TypeAlias = NDArray[np.int64]

ANY_NUMBER = 2**53
"""As many as any table has."""


@dataclass(frozen=True)
class Slack:
    """How far a count may be off, by what its table declares.

    Attributes:
        off_by: The most by which rounding may have moved one published count.
        scale: The scale of the noise on each; `None` if there is none.
        terms: How many noisy counts each adds up.
        sums: How many sums are compared in all: the probability that noise moves any of them further than allowed is
            at most 1e-9.
    """

    off_by: int
    scale: float | None
    terms: int
    sums: int

    @classmethod
    def of(cls, inexact: Inexact, sums: int) -> Self:
        """Return the slack of a table of evidence."""
        noise = inexact.noise
        return cls(inexact.off_by, None if noise is None else noise.scale, 1 if noise is None else noise.terms, sums)

    @property
    def is_none(self) -> bool:
        """Whether the counts are those of the table."""
        return self.off_by == 0 and self.scale is None

    def for_sums(self, cells: Counts) -> Rows:
        """Return how far sums of that many published counts may be off; an array of the same shape."""
        known = {int(number): self._of(int(number)) for number in np.unique(cells)}
        return np.vectorize(known.__getitem__, otypes=[np.int64])(cells) if cells.size else cells.astype(np.int64)

    def for_sum(self, cells: int) -> int:
        """Return how far the sum of that many published counts may be off."""
        return self._of(cells)

    def _of(self, cells: int) -> int:
        noise = 0 if self.scale is None else _noise(self.scale, self.terms * cells, self.sums)
        return self.off_by * cells + noise


@lru_cache(maxsize=4096)
def _noise(scale: float, terms: int, sums: int) -> int:
    return largest_noise(scale, terms, IMPLAUSIBLE / max(sums, 1))


@dataclass(frozen=True)
class Range:
    """From how many to how many records, or cells."""

    least: int
    most: int

    @property
    def is_nothing(self) -> bool:
        """Whether there are none."""
        return self.most == 0


def suppressed_in(evidence: Evidence, name: str) -> Range:
    """Return how many records, or cells, a configuration may suppress by what its entry says.

    Where counts were rounded, so was this number. A number below the minimum cell count is not published, and none is
    where noise covers the counts.
    """
    number = getattr(evidence, name)
    control = None if evidence.disclosure_control is None else DisclosureControl(**evidence.disclosure_control)
    if number is None:
        if control is not None and control.epsilon is not None:
            return Range(0, ANY_NUMBER)
        least = None if control is None else control.min_cell
        return Range(0, 0 if least is None else least - 1)
    off = 0 if control is None or control.rounded_to is None else control.rounded_to - 1
    return Range(max(0, number - off), number + off)
