"""The rules by which a plan says how a continuous attribute is cut, and the bins that each makes of a table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from itertools import pairwise
from math import ceil
from typing import ClassVar, Protocol

from aegis_provider.table.arithmetic import json_number
from aegis_provider.table.discretization.bins import Bins, CutBins, EvenBins

INFINITE = Decimal("inf")

# By how much of a bin's records a cut may be moved to make its number a short one.
_LEEWAY = 0.05


class Numbers(Protocol):
    """What a rule may ask of a column: how many numbers it has, and those that stand at some ranks."""

    @property
    def count(self) -> int:
        """How many records have a number."""
        ...

    def at(self, ranks: Sequence[int]) -> list[float]:
        """The numbers at these ranks, 1 being the smallest's and `count` the largest's; one reading of the column."""
        ...


class Rule(Protocol):
    """How a plan says that an attribute is discretised."""

    name: ClassVar[str]

    def bins(self, numbers: Numbers) -> Bins:
        """The bins for a column that has at least one number.

        Raises:
            ValueError: The rule makes no bins of these numbers; the message says why.
        """
        ...

    def parameters(self, bins: Bins) -> dict[str, object]:
        """What the entry says of the rule and of what it found, as JSON values."""
        ...


@dataclass(frozen=True)
class EqualWidth:
    """Bins of one width, from the origin in both directions."""

    name: ClassVar[str] = "equal_width"
    width: Decimal
    origin: Decimal = Decimal(0)

    def bins(self, numbers: Numbers) -> EvenBins:
        """Whatever the numbers are."""
        del numbers
        return EvenBins(self.width, self.origin)

    def parameters(self, bins: Bins) -> dict[str, object]:
        """The width and the origin."""
        del bins
        return {"width": json_number(self.width), "origin": json_number(self.origin)}


@dataclass(frozen=True)
class Edges:
    """Bins between edges that the plan gives; a number outside of them is withheld, as a missing one is."""

    name: ClassVar[str] = "edges"
    edges: tuple[Decimal, ...]

    def bins(self, numbers: Numbers) -> CutBins:
        """Whatever the numbers are."""
        del numbers
        return CutBins(self.edges)

    def parameters(self, bins: Bins) -> dict[str, object]:
        """The edges; `inf` and `-inf` as text."""
        del bins
        return {"edges": [json_number(edge) for edge in self.edges]}


@dataclass(frozen=True)
class EqualFrequency:
    """At most `number` bins with about the same number of records; the first and the last are open.

    Every cut is the roundest number that leaves each bin within a tenth of its share. Records with one number stay
    together: where there are many, bins are larger, and fewer.
    """

    name: ClassVar[str] = "equal_frequency"
    number: int

    def bins(self, numbers: Numbers) -> CutBins:
        """The bins between the cuts of a column's numbers."""
        total, share = numbers.count, numbers.count / self.number
        middles = [round(place * share) for place in range(1, self.number)]
        leeway = int(_LEEWAY * share)
        ranks = [(max(rank - leeway, 1), min(rank + leeway + 1, total)) for rank in middles if 0 < rank < total]
        bounds = numbers.at([1, *(rank for both in ranks for rank in both)])
        cuts = {roundest_above(*both) for both in zip(bounds[1::2], bounds[2::2], strict=True)}
        edges = sorted(cut for cut in cuts if cut > Decimal(repr(bounds[0])))
        return CutBins((-INFINITE, *edges, INFINITE))

    def parameters(self, bins: Bins) -> dict[str, object]:
        """The number of bins asked for, and the edges found."""
        edges = [json_number(edge) for edge in bins.edges] if isinstance(bins, CutBins) else []
        return {"bins": self.number, "edges": edges}


@dataclass(frozen=True)
class FreedmanDiaconis:
    """Bins of the width `2 IQR / n^(1/3)`, rounded to 1, 2 or 5 times a power of ten; the origin is 0.

    Freedman and Diaconis, On the histogram as a density estimator: L2 theory (1981).
    """

    name: ClassVar[str] = "freedman_diaconis"

    def bins(self, numbers: Numbers) -> EvenBins:
        """The bins for the quartiles of a column.

        Raises:
            ValueError: The quartiles are equal.
        """
        total = numbers.count
        lower, upper = numbers.at([ceil(total / 4), ceil(3 * total / 4)])
        if lower == upper:
            raise ValueError(
                f"half of its values are {lower!r}, so freedman_diaconis finds no width; choose another rule"
            )
        return EvenBins(_round_width(2 * (upper - lower) / total ** (1 / 3)))

    def parameters(self, bins: Bins) -> dict[str, object]:
        """The width found, and the origin."""
        width = bins.width if isinstance(bins, EvenBins) else Decimal(0)
        return {"width": json_number(width), "origin": 0}


def roundest_above(lower: float, upper: float) -> Decimal:
    """The roundest decimal above one number and at most another; this one itself where they are equal.

    Roundest: the largest multiple of the highest power of ten that has one there.
    """
    least, most = Decimal(repr(lower)), Decimal(repr(upper))
    for candidate in _multiples_at_most(most, max(least.adjusted(), most.adjusted()) + 1):
        if candidate > least:
            return candidate
    return most


def _multiples_at_most(number: Decimal, highest: int) -> Iterator[Decimal]:
    """The largest multiples of falling powers of ten, from `10^highest`, that do not exceed a number."""
    last = int(number.as_tuple().exponent)
    for exponent in range(max(highest, last), last - 1, -1):
        yield _plain(number.quantize(Decimal(1).scaleb(exponent), rounding=ROUND_FLOOR))


def _round_width(width: float) -> Decimal:
    """1, 2 or 5 times a power of ten: the one that is nearest as a ratio."""
    exact = Decimal(repr(width))
    unit = Decimal(1).scaleb(exact.adjusted())
    steps = [_plain(step * unit) for step in (Decimal(1), Decimal(2), Decimal(5), Decimal(10))]
    for lower, upper in pairwise(steps):
        if exact * exact <= lower * upper:
            return lower
    return steps[-1]


def _plain(number: Decimal) -> Decimal:
    """Without an exponent above zero, so that its text has none either."""
    return Decimal(f"{number:f}")
