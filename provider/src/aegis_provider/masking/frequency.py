"""`bucketize` by equal frequency: intervals that hold about as many records each."""

from bisect import bisect_left
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate
from typing import ClassVar

from aegis_provider.masking.bucketize import EdgeBuckets
from aegis_provider.masking.draw import IntArray
from aegis_provider.masking.function import FittedFunction
from aegis_provider.table.arithmetic import numbers_of
from aegis_provider.table.values import Domain

_FEWEST = 2


@dataclass(frozen=True)
class FoundBuckets(EdgeBuckets):
    """The intervals that were found for the `buckets` asked for; the first and the last are open."""

    buckets: int = _FEWEST

    def parameters(self) -> dict[str, object]:
        """The number asked for, and the edges found."""
        return {"equal_frequency": self.buckets, **super().parameters()}

    def describe(self) -> str:
        """`intervals with the edges -inf, 18, 65, inf, of about as many records each`."""
        return f"{super().describe()}, of about as many records each"


@dataclass(frozen=True)
class EqualFrequency(FittedFunction):
    """At most `buckets` intervals, cut between values where the records below come nearest to `i / buckets` of all.

    Records with one value stay together, so a frequent value can make an interval fuller than the others, and their
    number smaller. Each holds a share of the records that differs from `1 / buckets` by no more than that of the
    most frequent value. Missing values do not count.
    """

    name: ClassVar[str] = "bucketize"
    buckets: int

    def __post_init__(self) -> None:
        if self.buckets < _FEWEST:
            raise ValueError(f"`equal_frequency` must be an integer of at least {_FEWEST}, not {self.buckets}")

    def parameters(self) -> dict[str, object]:
        """How many intervals are asked for."""
        return {"equal_frequency": self.buckets}

    def describe(self) -> str:
        """`5 intervals of about as many records each`."""
        return f"{self.buckets} intervals of about as many records each"

    def fit(self, domain: Domain, histogram: IntArray) -> FoundBuckets:
        """The intervals for these counts of the values (values,)."""
        known = [
            (number, n) for number, n in zip(numbers_of(domain), histogram.tolist(), strict=True) if number is not None
        ]
        cuts = _cuts([n for _, n in known], self.buckets)
        edges = (Decimal("-Infinity"), *(known[place][0] for place in cuts), Decimal("Infinity"))
        return FoundBuckets(edges, self.buckets)


def _cuts(counts: list[int], buckets: int) -> list[int]:
    """The places of the values that begin an interval, ascending, without the first value; in whole numbers."""
    scaled = [below * buckets for below in accumulate(counts, initial=0)]
    wanted = (sum(counts) * place for place in range(1, buckets))
    # A cut before the first value, or after the last, is none.
    return sorted({_nearest(scaled, target) for target in wanted} - {0, len(counts)})


def _nearest(ascending: list[int], target: int) -> int:
    """The place of the number nearest to the target, which is at most the last; of two as near, the first."""
    above = bisect_left(ascending, target)
    return min(range(max(above - 1, 0), above + 1), key=lambda place: abs(ascending[place] - target))
