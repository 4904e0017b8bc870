"""The rules of a plan for discretising continuous attributes, and their bins for a table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from itertools import pairwise
from math import ceil
from typing import ClassVar, Protocol

from aegis_provider.table.arithmetic import json_number
from aegis_provider.table.discretization.bins import Bins, CutBins, EvenBins

INFINITE = Decimal("inf")

# The share of a bin's records by which a cut may move to a rounder number.
_LEEWAY = 0.05


class Numbers(Protocol):
    """The information that a rule may use on a column: the count of its numbers, and the numbers at some ranks."""

    @property
    def count(self) -> int:
        """The number of records with a number."""
        ...

    def at(self, ranks: Sequence[int]) -> list[float]:
        """Return the numbers at these ranks, from 1 (the smallest) to `count` (the largest), in one reading."""
        ...


class Rule(Protocol):
    """A rule of a plan for discretising an attribute."""

    name: ClassVar[str]

    def bins(self, numbers: Numbers) -> Bins:
        """Return the bins for a column that has at least one number.

        Raises:
            ValueError: The rule has no bins for these numbers; the message says why.
        """
        ...

    def parameters(self, bins: Bins) -> dict[str, object]:
        """Return the parameters of the rule and its result, for the entry, as JSON values."""
        ...


@dataclass(frozen=True)
class EqualWidth:
    """Bins of equal width, from the origin in both directions."""

    name: ClassVar[str] = "equal_width"
    width: Decimal
    origin: Decimal = Decimal(0)

    def bins(self, numbers: Numbers) -> EvenBins:
        """Return the bins, which do not depend on the numbers."""
        del numbers
        return EvenBins(self.width, self.origin)

    def parameters(self, bins: Bins) -> dict[str, object]:
        """Return the width and the origin."""
        del bins
        return {"width": json_number(self.width), "origin": json_number(self.origin)}


@dataclass(frozen=True)
class Edges:
    """Bins between edges from the plan; numbers outside the edges are treated like missing ones."""

    name: ClassVar[str] = "edges"
    edges: tuple[Decimal, ...]

    def bins(self, numbers: Numbers) -> CutBins:
        """Return the bins, which do not depend on the numbers."""
        del numbers
        return CutBins(self.edges)

    def parameters(self, bins: Bins) -> dict[str, object]:
        """Return the edges, with `inf` and `-inf` as text."""
        del bins
        return {"edges": [json_number(edge) for edge in self.edges]}


@dataclass(frozen=True)
class EqualFrequency:
    """At most `number` bins with about the same number of records; the first and the last are open.

    Every cut is the roundest number that leaves each bin within a tenth of its share. Records with the same number stay
    together, so many such records make bins larger and fewer.
    """

    name: ClassVar[str] = "equal_frequency"
    number: int

    def bins(self, numbers: Numbers) -> CutBins:
        """Return the bins between the cuts of a column's numbers."""
        total, share = numbers.count, numbers.count / self.number
        middles = [round(place * share) for place in range(1, self.number)]
        leeway = int(_LEEWAY * share)
        ranks = [(max(rank - leeway, 1), min(rank + leeway + 1, total)) for rank in middles if 0 < rank < total]
        bounds = numbers.at([1, *(rank for both in ranks for rank in both)])
        cuts = {roundest_above(*both) for both in zip(bounds[1::2], bounds[2::2], strict=True)}
        edges = sorted(cut for cut in cuts if cut > Decimal(repr(bounds[0])))
        return CutBins((-INFINITE, *edges, INFINITE))

    def parameters(self, bins: Bins) -> dict[str, object]:
        """Return the requested number of bins, and the computed edges."""
        edges = [json_number(edge) for edge in bins.edges] if isinstance(bins, CutBins) else []
        return {"bins": self.number, "edges": edges}


@dataclass(frozen=True)
class FreedmanDiaconis:
    """Bins of the width `2 IQR / n^(1/3)`, rounded to 1, 2 or 5 times a power of ten; the origin is 0.

    Freedman and Diaconis, On the histogram as a density estimator: L2 theory (1981).
    """

    name: ClassVar[str] = "freedman_diaconis"

    def bins(self, numbers: Numbers) -> EvenBins:
        """Return the bins for the quartiles of a column.

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
        """Return the computed width, and the origin."""
        width = bins.width if isinstance(bins, EvenBins) else Decimal(0)
        return {"width": json_number(width), "origin": 0}


def roundest_above(lower: float, upper: float) -> Decimal:
    """Return the roundest decimal above `lower` and at most `upper`, or `upper` itself if the two are equal.

    The roundest is the largest multiple of the highest power of ten that has a multiple there.
    """
    least, most = Decimal(repr(lower)), Decimal(repr(upper))
    for candidate in _multiples_at_most(most, max(least.adjusted(), most.adjusted()) + 1):
        if candidate > least:
            return candidate
    return most


def _multiples_at_most(number: Decimal, highest: int) -> Iterator[Decimal]:
    """Yield the largest multiples of falling powers of ten, from `10^highest`, that do not exceed a number."""
    last = int(number.as_tuple().exponent)
    for exponent in range(max(highest, last), last - 1, -1):
        yield _plain(number.quantize(Decimal(1).scaleb(exponent), rounding=ROUND_FLOOR))


def _round_width(width: float) -> Decimal:
    """Return the nearest number, by ratio, that is 1, 2 or 5 times a power of ten."""
    exact = Decimal(repr(width))
    unit = Decimal(1).scaleb(exact.adjusted())
    steps = [_plain(step * unit) for step in (Decimal(1), Decimal(2), Decimal(5), Decimal(10))]
    for lower, upper in pairwise(steps):
        if exact * exact <= lower * upper:
            return lower
    return steps[-1]


def _plain(number: Decimal) -> Decimal:
    """Return the number without a positive exponent, so that its text has none either."""
    return Decimal(f"{number:f}")
