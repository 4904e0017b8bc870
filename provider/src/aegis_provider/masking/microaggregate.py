"""`microaggregate`: every number becomes the mean of a group of records with near numbers."""

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from itertools import accumulate
from typing import ClassVar, TypeAlias

from aegis_provider.errors import UnmaskableValueError
from aegis_provider.masking.function import FittedFunction, IntArray, MaskingFunction
from aegis_provider.table.arithmetic import numbers_of, plus, times
from aegis_provider.table.values import MISSING, Domain
from aegis_provider.yaml_file import Element

_FEWEST = 2

# The extra decimals of means, so that rounding changes a sum little, and no two groups get the same mean.
_MORE_DECIMALS = 3

_FRACTION = 32

Group: TypeAlias = tuple[int, int]
"""The places of the first value of a group, and of the one after its last."""


@dataclass(frozen=True)
class Microaggregate(FittedFunction):
    """Groups of at least `size` records with near numbers, each of which becomes the mean.

    The groups minimise the sum of squared distances to their means. Equal numbers stay together, so a group can have `2
    size` records or more. Missing values stay missing.

    Source: Hansen and Mukherjee, "A polynomial algorithm for optimal univariate microaggregation", IEEE Transactions on
    Knowledge and Data Engineering 15 (2003).
    """

    name: ClassVar[str] = "microaggregate"
    published: ClassVar[tuple[str, ...]] = ("size",)
    size: int

    def __post_init__(self) -> None:
        if self.size < _FEWEST:
            raise ValueError(f"`size` must be an integer of at least {_FEWEST}, not {self.size}")

    @classmethod
    def read(cls, parameters: Element) -> "Microaggregate":
        """Read `{size: 5}`."""
        return cls(parameters.fields("size")["size"].integer(at_least=_FEWEST))

    def fit(self, domain: Domain, histogram: IntArray, *, binned: bool = False) -> "Microaggregated":
        """Return the groups for these counts of the values (values,).

        Raises:
            UnmaskableValueError: A value is not a number.
            ValueError: Fewer than `size` records have a number.
        """
        del binned  # bins are refused where they are masked
        numbers = numbers_of(domain)
        known = sorted((number, n) for number, n in zip(numbers, histogram.tolist(), strict=True) if number is not None)
        values, counts = [number for number, _ in known], [n for _, n in known]
        if sum(counts) < self.size:
            raise ValueError(f"only {sum(counts)} records have a number; a group needs {self.size}")
        groups = best_groups(values, counts, self.size)
        decimals = max(0, *(-int(value.as_tuple().exponent) for value in values)) + _MORE_DECIMALS
        means = tuple(_mean(values[first:end], counts[first:end], decimals) for first, end in groups)
        return Microaggregated(self.size, tuple(values[first] for first, _ in groups), means)


@dataclass(frozen=True)
class Microaggregated(MaskingFunction):
    """The fitted groups: the lowest number of each, ascending, and its mean."""

    name: ClassVar[str] = Microaggregate.name
    published: ClassVar[tuple[str, ...]] = Microaggregate.published
    size: int
    least: tuple[Decimal, ...]
    means: tuple[str, ...]

    def mask(self, domain: Domain) -> list[str]:
        """Return the mean of each value's group; a missing value stays missing."""
        return [
            MISSING if number is None else self.means[bisect_right(self.least, number) - 1]
            for number in numbers_of(domain)
        ]

    def mask_bins(self, domain: Domain, ends: tuple[Domain, Domain]) -> list[str]:
        """Refuse bins, whose numbers are unknown.

        Raises:
            UnmaskableValueError: Always, if there is a bin.
        """
        del ends
        for text in domain.texts:
            if text != MISSING:
                raise UnmaskableValueError(text, "is a bin, but microaggregate needs numbers; leave out `discretize`")
        return list(domain.texts)


def best_groups(values: Sequence[Decimal], counts: Sequence[int], size: int) -> list[Group]:
    """Return the groups with the lowest sum of squared distances to their means, in ascending order.

    Such groups are runs of ordered values, and the best ones of the first values follow from those of fewer values
    (Hansen and Mukherjee 2003). Of two beginnings of the last group, the later one is better for all ends from some
    value on (the quadrangle inequality, Yao 1980). So each beginning is best for a stretch of ends, and stretches are
    computed one after the other (Galil and Park 1992), in a time that hardly depends on `size`.

    Sums are whole numbers in units of the last decimal, so that no digit is lost; the cost of each group is truncated
    after 32 binary places. The result is the same on every machine.

    Args:
        values: The distinct numbers, ascending.
        counts: The records with each number; at least `size` in all.
        size: The minimum number of records in a group.
    """
    decimals = max(0, *(-int(value.as_tuple().exponent) for value in values))
    whole = [int(times(value, Decimal(10**decimals))) for value in values]
    numbers = [number - whole[0] for number in whole]  # distances do not change
    below = list(accumulate(counts, initial=0))
    sums = list(accumulate((number * n for number, n in zip(numbers, counts, strict=True)), initial=0))
    squares = list(accumulate((number * number * n for number, n in zip(numbers, counts, strict=True)), initial=0))
    least, before = [0] * len(below), [0] * len(below)

    def cost(first: int, end: int) -> int:
        """Return the cost of the best groups until `end`, the last of which begins at `first`."""
        records, total = below[end] - below[first], sums[end] - sums[first]
        distances = records * (squares[end] - squares[first]) - total * total
        return least[first] + (distances << _FRACTION) // records

    best = deque[tuple[int, int]]()  # beginnings of a last group, each with the first end for which it is the best
    added = 0
    for end in range(bisect_left(below, size), len(below)):
        while below[end] - below[added] >= size:
            if added == 0 or below[added] >= size:
                _add(best, added, end, len(below), cost)
            added += 1
        while len(best) > 1 and best[1][1] <= end:
            best.popleft()
        before[end] = best[0][0]
        least[end] = cost(before[end], end)
    groups, end = [], len(values)
    while end:
        groups.append((before[end], end))
        end = before[end]
    return groups[::-1]


def _add(best: "deque[tuple[int, int]]", first: int, end: int, ends: int, cost: Callable[[int, int], int]) -> None:
    """Add a beginning, which is possible from some end on, and drop those that are never better."""
    while best and cost(first, max(best[-1][1], end)) <= cost(best[-1][0], max(best[-1][1], end)):
        best.pop()
    if not best:
        best.append((first, end))
        return
    other, start = best[-1][0], max(best[-1][1], end)

    def is_better(at: int) -> bool:
        return cost(first, at) <= cost(other, at)

    step = 1
    while start + step < ends and not is_better(start + step):
        step *= 2
    near = range(start + step // 2 + 1, min(start + step, ends))
    at = near.start + bisect_left(near, True, key=is_better)
    if at < ends:
        best.append((first, at))


def _mean(values: Sequence[Decimal], counts: Sequence[int], decimals: int) -> str:
    """Return the mean, rounded half to even to this many decimals, without trailing zeros."""
    total = reduce(plus, map(times, values, map(Decimal, counts)))
    scaled = round(Fraction(int(times(total, Decimal(10**decimals))), sum(counts)))
    digits = f"{abs(scaled):0{decimals + 1}d}"
    text = f"{digits[:-decimals]}.{digits[-decimals:]}".rstrip("0").rstrip(".")
    return f"-{text}" if scaled < 0 else text
