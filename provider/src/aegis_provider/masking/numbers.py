"""`bucketize` (half-open intervals), `round`, and `top_bottom`: masking of numbers."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
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
    json_number,
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

    width: Decimal
    origin: Decimal = Decimal(0)

    def __post_init__(self) -> None:
        check_above_zero("width", self.width)
        check_finite("origin", self.origin)

    def parameters(self) -> dict[str, object]:
        """Return the width and the origin."""
        return {"width": json_number(self.width), "origin": json_number(self.origin)}

    def mask(self, domain: Domain) -> list[str]:
        """Return the name of each value's interval; a missing value stays missing."""
        return name_intervals(domain, self._bounds, whole=is_whole(self.width) and is_whole(self.origin))

    def _bounds(self, number: Decimal) -> Bounds:
        step = floor_ratio(minus(number, self.origin), self.width)
        lower = plus(self.origin, times(step, self.width))
        return lower, plus(lower, self.width)


@dataclass(frozen=True)
class EdgeBuckets(Bucketize, NumberFunction):
    """Intervals `[edges[i], edges[i + 1])`; the edges ascend, the first and last may be infinite.

    A value outside all intervals is masked like a missing value.
    """

    edges: tuple[Decimal, ...]

    def __post_init__(self) -> None:
        if len(self.edges) < _ENDS:
            raise ValueError("at least two edges are needed")
        check_ascending("edges", self.edges)

    def parameters(self) -> dict[str, object]:
        """Return the edges; `inf` and `-inf` as text."""
        return {"edges": [json_number(edge) for edge in self.edges]}

    def mask(self, domain: Domain) -> list[str]:
        """Return the name of each value's interval, `""` for a value that is missing or outside the edges."""
        return name_intervals(domain, self._bounds, whole=all(map(is_whole, filter(Decimal.is_finite, self.edges))))

    def _bounds(self, number: Decimal) -> Bounds | None:
        place = bisect_right(self.edges, number)
        return (self.edges[place - 1], self.edges[place]) if 0 < place < len(self.edges) else None


@dataclass(frozen=True)
class FittedBuckets(EdgeBuckets):
    """The fitted intervals for the requested number of `buckets`; the first and the last are unbounded."""

    buckets: int = _FEWEST

    def parameters(self) -> dict[str, object]:
        """Return the requested number, and the fitted edges."""
        return {"equal_frequency": self.buckets, **super().parameters()}


@dataclass(frozen=True)
class EqualFrequency(Bucketize, FittedFunction):
    """At most `buckets` intervals, cut between values where the share of records below is nearest to `i / buckets`.

    Records with one value stay together, so a frequent value can make an interval fuller than others, and the number
    of intervals smaller. The share of the records in an interval differs from `1 / buckets` by no more than the share
    of the most frequent value. Missing values are ignored.
    """

    buckets: int

    def __post_init__(self) -> None:
        if self.buckets < _FEWEST:
            raise ValueError(f"`equal_frequency` must be an integer of at least {_FEWEST}, not {self.buckets}")

    def parameters(self) -> dict[str, object]:
        """Return the requested number of intervals."""
        return {"equal_frequency": self.buckets}

    def fit(self, domain: Domain, histogram: IntArray, *, binned: bool = False) -> FittedBuckets:
        """Return the intervals for these counts (values,). They end between values, or where bins end."""
        known = [
            (number, n) for number, n in zip(numbers_of(domain), histogram.tolist(), strict=True) if number is not None
        ]
        cuts = _cuts([n for _, n in known], self.buckets)
        begins = [known[place][0] if binned else simplest(known[place - 1][0], known[place][0]) for place in cuts]
        inner = (Decimal(plain(begin)) for begin in begins)
        edges = (Decimal("-Infinity"), *inner, Decimal("Infinity"))
        return FittedBuckets(edges, self.buckets)


def name_intervals(domain: Domain, bounds_of: Callable[[Decimal], Bounds | None], *, whole: bool) -> list[str]:
    """Return the name of each value's interval, `""` if the value is missing or has no interval.

    Args:
        domain: The values.
        bounds_of: Returns the interval of a number.
        whole: Whether all finite edges are integers.

    Raises:
        UnmaskableValueError: A value is not a number.
    """
    name = _integer_name if whole and domain.value_type is ValueType.INTEGER else interval_name
    bounds = (None if number is None else bounds_of(number) for number in numbers_of(domain))
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
    scaled = [below * buckets for below in accumulate(counts, initial=0)]
    wanted = (sum(counts) * place for place in range(1, buckets))
    # A cut before the first value or after the last separates nothing.
    return sorted({_nearest(scaled, target) for target in wanted} - {0, len(counts)})


def _nearest(ascending: list[int], target: int) -> int:
    """Return the place of the number nearest to the target (the first of two); the target is at most the last
    number.
    """
    above = bisect_left(ascending, target)
    return min(range(max(above - 1, 0), above + 1), key=lambda place: abs(ascending[place] - target))


_BELOW_ALL, _ABOVE_ALL = Decimal("-Infinity"), Decimal("Infinity")


@dataclass(frozen=True)
class Round(NumberFunction):
    """The nearest multiple of `to`; halves are rounded away from zero, as people do."""

    name: ClassVar[str] = "round"
    to: Decimal

    def __post_init__(self) -> None:
        check_above_zero("to", self.to)

    @classmethod
    def read(cls, parameters: Element) -> "Round":
        """Read `{to: 10}`."""
        return cls(parameters.fields("to")["to"].positive())

    def parameters(self) -> dict[str, object]:
        """Return the unit of the masked values."""
        return {"to": json_number(self.to)}

    def mask(self, domain: Domain) -> list[str]:
        """Return each number rounded, without exponent; a missing value stays missing."""
        return [MISSING if number is None else self._rounded(number) for number in numbers_of(domain)]

    def _rounded(self, number: Decimal) -> str:
        size = number.copy_abs()
        step = floor_ratio(size, self.to)
        rest = minus(size, times(step, self.to))
        if plus(rest, rest) >= self.to:
            step = plus(step, Decimal(1))
        return plain(times(step, self.to).copy_sign(number))


@dataclass(frozen=True)
class TopBottom(NumberFunction):
    """Values of `top` or more become one value, `90+`, and values below `bottom` another, `<18`; others stay.

    Source: Hundepool et al., Statistical Disclosure Control (2012), "top and bottom coding".
    """

    name: ClassVar[str] = "top_bottom"
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

    def parameters(self) -> dict[str, object]:
        """Return the stated limits."""
        limits = {"top": self.top, "bottom": self.bottom}
        return {name: json_number(number) for name, number in limits.items() if number is not None}

    def mask(self, domain: Domain) -> list[str]:
        """Return each value's text, or the name of the unbounded interval it is in; a missing value stays missing."""
        whole = all(is_whole(limit) for limit in (self.top, self.bottom) if limit is not None)
        coded = name_intervals(domain, self._bounds, whole=whole)
        kept = [number is None or self._bounds(number) is None for number in numbers_of(domain)]
        return [text if stays else code for text, stays, code in zip(domain.texts, kept, coded, strict=True)]

    def _bounds(self, number: Decimal) -> Bounds | None:
        if self.top is not None and number >= self.top:
            return self.top, _ABOVE_ALL
        return (_BELOW_ALL, self.bottom) if self.bottom is not None and number < self.bottom else None
