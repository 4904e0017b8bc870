"""`microaggregate`: every number becomes the mean of a group of records with near numbers."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from itertools import accumulate
from typing import ClassVar, TypeAlias

from aegis_provider.errors import UnmaskableValueError
from aegis_provider.masking.draw import IntArray
from aegis_provider.masking.function import FittedFunction, MaskingFunction
from aegis_provider.table.arithmetic import minus, numbers_of, plus, times
from aegis_provider.table.values import MISSING, Domain
from aegis_provider.yaml_file import Element

_FEWEST = 2

# Means have so many decimals more than the numbers, so that rounding changes a sum little, and no two groups get the
# same mean.
_MORE_DECIMALS = 3

Group: TypeAlias = tuple[int, int]
"""The places of the first value of a group, and of the one after its last."""


@dataclass(frozen=True)
class Microaggregate(FittedFunction):
    """MDAV of one attribute: groups of at least `size` records with near numbers, each of which becomes the mean.

    The record farthest from the mean takes its `size - 1` nearest records. So does the record farthest from that one.
    This is repeated with the records left until there are fewer than `3 size`: one more group if there are `2 size`,
    and the last. Equal numbers stay together, so a group can have more records. Missing values stay missing.

    Source: Domingo-Ferrer and Torra, "Ordinal, continuous and heterogeneous k-anonymity through microaggregation", Data
    Mining and Knowledge Discovery 11 (2005), algorithm MDAV-generic.
    """

    name: ClassVar[str] = "microaggregate"
    size: int

    def __post_init__(self) -> None:
        if self.size < _FEWEST:
            raise ValueError(f"`size` must be an integer of at least {_FEWEST}, not {self.size}")

    @classmethod
    def read(cls, parameters: Element) -> "Microaggregate":
        """Read `{size: 5}`."""
        return cls(parameters.fields("size")["size"].integer(at_least=_FEWEST))

    def parameters(self) -> dict[str, object]:
        """Return the size."""
        return {"size": self.size}

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
        groups = mdav(values, counts, self.size)
        decimals = max(0, *(-int(value.as_tuple().exponent) for value in values)) + _MORE_DECIMALS
        means = tuple(_mean(values[first:end], counts[first:end], decimals) for first, end in groups)
        return Microaggregated(self.size, tuple(values[first] for first, _ in groups), means)


@dataclass(frozen=True)
class Microaggregated(MaskingFunction):
    """The groups found: the least number of each, ascending, and its mean."""

    name: ClassVar[str] = Microaggregate.name
    size: int
    least: tuple[Decimal, ...]
    means: tuple[str, ...]

    @classmethod
    def read(cls, parameters: Element) -> Microaggregate:
        """Read as the function that is fitted."""
        return Microaggregate.read(parameters)

    def parameters(self) -> dict[str, object]:
        """Return the size; the mapping says the rest."""
        return {"size": self.size}

    def mask(self, domain: Domain) -> list[str]:
        """Return the mean of each value's group; a missing value stays missing."""
        return [
            MISSING if number is None else self.means[bisect_right(self.least, number) - 1]
            for number in numbers_of(domain)
        ]

    def mask_bins(self, domain: Domain, ends: tuple[Domain, Domain]) -> list[str]:
        """Refuse bins, whose numbers are not known.

        Raises:
            UnmaskableValueError: Always, if there is a bin.
        """
        del ends
        for text in domain.texts:
            if text != MISSING:
                raise UnmaskableValueError(text, "is a bin, but microaggregate needs numbers; leave out `discretize`")
        return list(domain.texts)


def mdav(values: Sequence[Decimal], counts: Sequence[int], size: int) -> list[Group]:
    """Return the groups of MDAV in ascending order; together they have all values.

    On a line, the record farthest from the mean is the first or the last one, and its nearest records are beside it.
    If fewer than `size` records would be left, a group takes them too.

    Args:
        values: The distinct numbers, ascending.
        counts: How many records have each; at least `size` in all.
        size: The least number of records in a group.
    """
    below = list(accumulate(counts, initial=0))
    sums = list(accumulate(map(times, values, map(Decimal, counts)), plus, initial=Decimal(0)))
    first, end = 0, len(values)
    groups = []
    while (records := below[end] - below[first]) >= 2 * size:
        sum_of_ends = times(plus(values[first], values[end - 1]), Decimal(records))
        is_low = times(Decimal(2), minus(sums[end], sums[first])) >= sum_of_ends  # the first is farthest from the mean
        for from_low in (is_low, not is_low) if records >= 3 * size else (is_low,):
            group = _nearest(below, first, end, size, from_low=from_low)
            groups += [group] if first < end else []
            first, end = (group[1], end) if from_low else (first, group[0])
    return sorted([*groups, (first, end)] if first < end else groups)


def _nearest(below: Sequence[int], first: int, end: int, size: int, *, from_low: bool) -> Group:
    """Return the group of the first or the last record among the values from `first` to `end`.

    `below[i]`: how many records have a value before place `i`.
    """
    if from_low:
        cut = bisect_left(below, below[first] + size, first, end)
        return first, cut if below[end] - below[cut] >= size else end
    cut = max(first, bisect_right(below, below[end] - size, first, end + 1) - 1)
    return cut if below[cut] - below[first] >= size else first, end


def _mean(values: Sequence[Decimal], counts: Sequence[int], decimals: int) -> str:
    """Return the mean, rounded to so many decimals (a half to the even digit), without zeros at its end."""
    total = reduce(plus, map(times, values, map(Decimal, counts)))
    scaled = round(Fraction(int(times(total, Decimal(10**decimals))), sum(counts)))
    digits = f"{abs(scaled):0{decimals + 1}d}"
    text = f"{digits[:-decimals]}.{digits[-decimals:]}".rstrip("0").rstrip(".")
    return f"-{text}" if scaled < 0 else text
