"""`bucketize`: numbers to the half-open intervals that hold them."""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar, TypeAlias

from aegis_provider.masking.checks import check_above_zero, check_ascending, check_finite
from aegis_provider.masking.function import MaskingFunction
from aegis_provider.table.arithmetic import (
    floor_ratio,
    interval_name,
    json_number,
    minus,
    numbers_of,
    plain,
    plus,
    times,
)
from aegis_provider.table.values import MISSING, Domain, ValueType, is_whole

Bounds: TypeAlias = tuple[Decimal, Decimal]

_ENDS = 2


@dataclass(frozen=True)
class EqualBuckets(MaskingFunction):
    """Intervals `[origin + i * width, origin + (i + 1) * width)` for every integer `i`."""

    name: ClassVar[str] = "bucketize"
    width: Decimal
    origin: Decimal = Decimal(0)

    def __post_init__(self) -> None:
        check_above_zero("width", self.width)
        check_finite("origin", self.origin)

    def parameters(self) -> dict[str, object]:
        """The width and the origin."""
        return {"width": json_number(self.width), "origin": json_number(self.origin)}

    def describe(self) -> str:
        """`intervals of width 5, from 0`."""
        return f"intervals of width {plain(self.width)}, from {plain(self.origin)}"

    def mask(self, domain: Domain) -> list[str]:
        """The name of each value's interval; a missing value stays missing."""
        return name_intervals(domain, self._bounds, whole=is_whole(self.width) and is_whole(self.origin))

    def _bounds(self, number: Decimal) -> Bounds:
        step = floor_ratio(minus(number, self.origin), self.width)
        lower = plus(self.origin, times(step, self.width))
        return lower, plus(lower, self.width)


@dataclass(frozen=True)
class EdgeBuckets(MaskingFunction):
    """Intervals `[edges[i], edges[i + 1])`; the edges ascend, the first and last may be infinite.

    A value outside all of them is withheld: its masked value is that of a missing one.
    """

    name: ClassVar[str] = "bucketize"
    edges: tuple[Decimal, ...]

    def __post_init__(self) -> None:
        if len(self.edges) < _ENDS:
            raise ValueError("at least two edges are needed")
        check_ascending("edges", self.edges)

    def parameters(self) -> dict[str, object]:
        """The edges; `inf` and `-inf` as text."""
        return {"edges": [json_number(edge) for edge in self.edges]}

    def describe(self) -> str:
        """`intervals with the edges 0, 18, 65, inf`."""
        return f"intervals with the edges {', '.join(str(json_number(edge)) for edge in self.edges)}"

    def mask(self, domain: Domain) -> list[str]:
        """The name of each value's interval, `""` for a value outside the edges or missing."""
        return name_intervals(domain, self._bounds, whole=all(map(is_whole, filter(Decimal.is_finite, self.edges))))

    def _bounds(self, number: Decimal) -> Bounds | None:
        place = bisect_right(self.edges, number)
        return (self.edges[place - 1], self.edges[place]) if 0 < place < len(self.edges) else None


def name_intervals(domain: Domain, bounds_of: Callable[[Decimal], Bounds | None], *, whole: bool) -> list[str]:
    """The name of each value's interval, `""` where it is missing or has none; `whole`: all finite edges are integers.

    Raises `UnmaskableValueError` for a value that is no number.
    """
    name = _integer_name if whole and domain.value_type is ValueType.INTEGER else interval_name
    bounds = (None if number is None else bounds_of(number) for number in numbers_of(domain))
    return [MISSING if pair is None else name(*pair) for pair in bounds]


def _integer_name(lower: Decimal, upper: Decimal) -> str:
    """`15-19`, `7` for an interval of one integer, `25+` and `<0` for the unbounded ones."""
    if lower.is_infinite():
        return interval_name(lower, upper) if upper.is_infinite() else f"<{plain(upper)}"
    if upper.is_infinite():
        return f"{plain(lower)}+"
    last = minus(upper, Decimal(1))
    return plain(lower) if last == lower else f"{plain(lower)}-{plain(last)}"
