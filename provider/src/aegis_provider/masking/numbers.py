"""`bucketize` (half-open intervals), `round`, and `top_bottom`: masking of numbers."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate
from typing import ClassVar, TypeAlias

from aegis_provider.masking.function import (
    FittedFunction,
    Function,
    IntArray,
    NumberFunction,
    check_above_zero,
    check_ascending,
    check_finite,
)
from aegis_provider.table.arithmetic import (
    floor_ratio,
    interval_name,
    minus,
    numbers_of,
    plain,
    plus,
    simplest,
    times,
)
from aegis_provider.table.values import MISSING, Domain, ValueType, is_whole
from aegis_provider.yaml_file import Element

Bounds: TypeAlias = tuple[Decimal, Decimal]

_ENDS = 2
_FEWEST = 2


class Bucketize(Function):
    """`{width: 5, origin: 0}`, `{edges: [0, 18, 65, .inf]}` or `{equal_frequency: 5}`."""

    name: ClassVar[str] = "bucketize"

    @classmethod
    def read(cls, parameters: Element) -> "EqualBuckets | EdgeBuckets | EqualFrequency":
        """Read one of the three kinds, depending on the keys."""
        fields = parameters.fields(optional=("width", "origin", "edges", "equal_frequency"))
        if set(fields) == {"equal_frequency"}:
            return EqualFrequency(fields["equal_frequency"].integer(at_least=_FEWEST))
        if set(fields) == {"edges"}:
            return EdgeBuckets(read_edges(fields["edges"]))
        if set(fields) - {"origin"} != {"width"}:
            parameters.fail("expected `width`, perhaps with `origin`, or else `edges` or `equal_frequency`")
        origin = fields["origin"].decimal() if "origin" in fields else Decimal(0)
        return EqualBuckets(fields["width"].positive(), origin)


def read_edges(element: Element) -> tuple[Decimal, ...]:
    """Read a list of two or more ascending numbers.

    Raises:
        PlanError: The element is something else.
    """
    with element.naming_faults():
        return EdgeBuckets(tuple(edge.decimal(infinite=True) for edge in element.elements())).edges


@dataclass(frozen=True)
class EqualBuckets(Bucketize, NumberFunction):
    """Intervals `[origin + i * width, origin + (i + 1) * width)` for every integer `i`."""

    published: ClassVar[tuple[str, ...]] = ("width", "origin")
    width: Decimal
    origin: Decimal = Decimal(0)

    def __post_init__(self) -> None:
        check_above_zero("width", self.width)
        check_finite("origin", self.origin)

    def mask(self, domain: Domain) -> list[str]:
        """Return the name of each value's interval; a missing value stays missing."""
        bounds: list[Bounds | None] = []
        for number in numbers_of(domain):
            if number is None:
                bounds.append(None)
                continue
            step = floor_ratio(minus(number, self.origin), self.width)
            lower = plus(self.origin, times(step, self.width))
            bounds.append((lower, plus(lower, self.width)))
        return name_intervals(domain, bounds, whole=is_whole(self.width) and is_whole(self.origin))


@dataclass(frozen=True)
class EdgeBuckets(Bucketize, NumberFunction):
    """Intervals `[edges[i], edges[i + 1])`; the edges ascend, the first and last may be infinite.

    A value outside all intervals is masked like a missing value.
    """

    published: ClassVar[tuple[str, ...]] = ("edges",)
    edges: tuple[Decimal, ...]

    def __post_init__(self) -> None:
        if len(self.edges) < _ENDS:
            raise ValueError("at least two edges are needed")
        check_ascending("edges", self.edges)

    def mask(self, domain: Domain) -> list[str]:
        """Return the name of each value's interval, `""` for a value that is missing or outside the edges."""
        above = [0 if number is None else bisect_right(self.edges, number) for number in numbers_of(domain)]
        bounds = [
            (self.edges[place - 1], self.edges[place]) if 0 < place < len(self.edges) else None for place in above
        ]
        whole = all(map(is_whole, filter(Decimal.is_finite, self.edges)))
        return name_intervals(domain, bounds, whole=whole)


@dataclass(frozen=True)
class FittedBuckets(EdgeBuckets):
    """The fitted intervals for the number requested by `equal_frequency`; the first and the last are unbounded."""

    published: ClassVar[tuple[str, ...]] = ("equal_frequency", "edges")
    equal_frequency: int = _FEWEST


@dataclass(frozen=True)
class EqualFrequency(Bucketize, FittedFunction):
    """At most `n = equal_frequency` intervals, cut between values where the share of records below is nearest `i / n`.

    Records with one value stay together, so a frequent value can make an interval fuller than others, and the number
    of intervals smaller. The share of the records in an interval differs from `1 / n` by no more than the share
    of the most frequent value. Missing values are ignored.
    """

    published: ClassVar[tuple[str, ...]] = ("equal_frequency",)
    equal_frequency: int

    def __post_init__(self) -> None:
        if self.equal_frequency < _FEWEST:
            raise ValueError(f"`equal_frequency` must be an integer of at least {_FEWEST}, not {self.equal_frequency}")

    def fit(self, domain: Domain, histogram: IntArray, *, binned: bool = False) -> FittedBuckets:
        """Return the intervals for these counts (values,). They end between values, or where bins end."""
        known = [
            (number, n) for number, n in zip(numbers_of(domain), histogram.tolist(), strict=True) if number is not None
        ]
        cuts = _cuts([n for _, n in known], self.equal_frequency)
        begins = [known[place][0] if binned else simplest(known[place - 1][0], known[place][0]) for place in cuts]
        inner = (Decimal(plain(begin)) for begin in begins)
        edges = (Decimal("-Infinity"), *inner, Decimal("Infinity"))
        return FittedBuckets(edges, self.equal_frequency)


def name_intervals(domain: Domain, bounds: Sequence[Bounds | None], *, whole: bool) -> list[str]:
    """Return the name of each value's interval, `""` without one; `whole`: all finite edges are integers."""
    name = _integer_name if whole and domain.value_type is ValueType.INTEGER else interval_name
    return [MISSING if pair is None else name(*pair) for pair in bounds]


def _integer_name(lower: Decimal, upper: Decimal) -> str:
    """Return `15-19`, or `7` for an interval of one integer, or `25+` and `<0` for unbounded ones."""
    if lower.is_infinite():
        return interval_name(lower, upper) if upper.is_infinite() else f"<{plain(upper)}"
    if upper.is_infinite():
        return f"{plain(lower)}+"
    last = minus(upper, Decimal(1))
    return plain(lower) if last == lower else f"{plain(lower)}-{plain(last)}"


def _cuts(counts: list[int], buckets: int) -> list[int]:
    """Return the places of the values that begin an interval, ascending, except the first; in whole numbers."""
    scaled = [records * buckets for records in accumulate(counts, initial=0)]
    wanted = (sum(counts) * place for place in range(1, buckets))
    cuts = set[int]()
    for target in wanted:
        above = bisect_left(scaled, target)
        below = max(above - 1, 0)
        cuts.add(above if scaled[above] - target < target - scaled[below] else below)
    return sorted(cuts - {0, len(counts)})  # a cut before the first value or after the last separates nothing


_BELOW_ALL, _ABOVE_ALL = Decimal("-Infinity"), Decimal("Infinity")


@dataclass(frozen=True)
class Round(NumberFunction):
    """The nearest multiple of `to`; halves are rounded away from zero, as people do."""

    name: ClassVar[str] = "round"
    published: ClassVar[tuple[str, ...]] = ("to",)
    to: Decimal

    def __post_init__(self) -> None:
        check_above_zero("to", self.to)

    @classmethod
    def read(cls, parameters: Element) -> "Round":
        """Read `{to: 10}`."""
        return cls(parameters.fields("to")["to"].positive())

    def mask(self, domain: Domain) -> list[str]:
        """Return each number rounded, without exponent; a missing value stays missing."""
        masked = []
        for number in numbers_of(domain):
            if number is None:
                masked.append(MISSING)
                continue
            size = number.copy_abs()
            step = floor_ratio(size, self.to)
            rest = minus(size, times(step, self.to))
            if plus(rest, rest) >= self.to:
                step = plus(step, Decimal(1))
            masked.append(plain(times(step, self.to).copy_sign(number)))
        return masked


@dataclass(frozen=True)
class TopBottom(NumberFunction):
    """Values of `top` or more become one value, `90+`, and values below `bottom` another, `<18`; others stay.

    Source: Hundepool et al., Statistical Disclosure Control (2012), "top and bottom coding".
    """

    name: ClassVar[str] = "top_bottom"
    published: ClassVar[tuple[str, ...]] = ("top", "bottom")
    top: Decimal | None = None
    bottom: Decimal | None = None

    def __post_init__(self) -> None:
        if self.top is None and self.bottom is None:
            raise ValueError("`top`, `bottom` or both are needed")
        for name, number in (("top", self.top), ("bottom", self.bottom)):
            if number is not None:
                check_finite(name, number)
        if self.top is not None and self.bottom is not None and self.bottom >= self.top:
            raise ValueError(f"`bottom` must be below `top`, but {self.bottom} is not below {self.top}")

    @classmethod
    def read(cls, parameters: Element) -> "TopBottom":
        """Read `{top: 90, bottom: 18}`, or one of them."""
        limits = {name: limit.decimal() for name, limit in parameters.fields(optional=("top", "bottom")).items()}
        return cls(limits.get("top"), limits.get("bottom"))

    def mask(self, domain: Domain) -> list[str]:
        """Return each value's text, or the name of the unbounded interval it is in; a missing value stays missing."""
        bounds: list[Bounds | None] = []
        for number in numbers_of(domain):
            if number is not None and self.top is not None and number >= self.top:
                bounds.append((self.top, _ABOVE_ALL))
            elif number is not None and self.bottom is not None and number < self.bottom:
                bounds.append((_BELOW_ALL, self.bottom))
            else:
                bounds.append(None)
        whole = all(is_whole(limit) for limit in (self.top, self.bottom) if limit is not None)
        coded = zip(bounds, domain.texts, name_intervals(domain, bounds, whole=whole), strict=True)
        return [text if beyond is None else code for beyond, text, code in coded]
