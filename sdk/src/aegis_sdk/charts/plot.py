"""Axes of plots: their scales, ticks and grid, and the names beside points as far as they fit on a phone."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from types import MappingProxyType
from typing import Final, Literal, Self
from unicodedata import combining, east_asian_width

from aegis_sdk.charts.drawing import Markup, cut, joined, pixels, place, tag
from aegis_sdk.printable import DASH, number, percent

HEIGHT: Final = 320
"""The height of the plot in pixels."""
TOP: Final = 20
STRETCHED: Final = 1_000
"""The width of drawings that are stretched to the width of the plot."""

Unit = Literal["share", "number", "rank"]

_WRITTEN: Final[Mapping[Unit, Callable[[float], str]]] = MappingProxyType(
    {"share": percent, "number": number, "rank": lambda rank: f"{rank:,.0f}"}
)
_VAST: Final = 1e100
_DECADES: Final = 30
"""The ratio of greatest to least number from which ticks are powers of ten."""
_ALIKE: Final = 1e-9
_TINY: Final = 1e-100
_STEPS: Final = (1, 2, 5)
_CHARACTER: Final = 6.8
_BETWEEN: Final = 12.0
NARROWEST: Final = 264.0
"""The width in pixels of a plot on a phone 360 pixels wide. What fits there fits everywhere."""


def drawable(number: float) -> bool:
    """Whether the number fits on an axis: it is finite and not vast."""
    return -_VAST <= number <= _VAST


@dataclass(frozen=True)
class Interval:
    """The limits of a number."""

    low: float
    high: float

    @property
    def is_drawable(self) -> bool:
        """Whether both limits fit on an axis."""
        return drawable(self.low) and drawable(self.high)


def ends_of(number: float, interval: Interval | None) -> tuple[float, ...]:
    """The number and the limits of its interval."""
    return (number,) if interval is None else (number, interval.low, interval.high)


@dataclass(frozen=True)
class Axis:
    """An axis: a word or two for a column header, and the quantity with its unit. The better end is right or up.

    Attributes:
        unit: `share` for shares of 1, written in percent; `rank` for ranks.
        levels: Numbers marked by a line across the plot, by name.
    """

    name: str
    title: str
    unit: Unit = "number"
    higher_is_better: bool = True
    levels: Mapping[str, float] = field(default_factory=dict)

    def written(self, value: float) -> str:
        """The number as text."""
        return _WRITTEN[self.unit](value)

    def interval_written(self, interval: Interval | None) -> str:
        """The limits as text; a dash if there are none."""
        return DASH if interval is None else f"{self.written(interval.low)} to {self.written(interval.high)}"

    def gain(self, value: float) -> float:
        """The number, negated if less is better, so that more is better."""
        return value if self.higher_is_better else -value


@dataclass(frozen=True)
class Scale:
    """The positions of numbers on an axis, as shares of its length.

    Attributes:
        logarithmic: Whether equal distances are equal ratios; with a `low` of 0, approximately and from 1 on.
        turned: Whether numbers fall along the axis.
        inset: The share of the axis left free at either end.
    """

    low: float
    high: float
    logarithmic: bool = False
    turned: bool = False
    inset: float = 0.0

    @classmethod
    def over(cls, numbers: Iterable[float], *, turned: bool = False, inset: float = 0.0) -> Self:
        """The scale of these numbers: logarithmic if all are above 0 and the greatest is many times the least."""
        known = sorted(numbers)
        low, high = (known[0], known[-1]) if known else (0.0, 0.0)
        return cls(low, high, logarithmic=low > _TINY and high / low >= _DECADES, turned=turned, inset=inset)

    @cached_property
    def is_point(self) -> bool:
        """Whether the ends are equal up to rounding."""
        return self.high - self.low <= max(_ALIKE * max(abs(self.low), abs(self.high)), _TINY)

    def place(self, number: float) -> float:
        """The position of the number, from 0 to 1; 0.5 if the scale has only one number."""
        if self.is_point:
            return 0.5
        if self.logarithmic and self.low <= 0:
            along = math.log1p(max(number, 0.0)) / math.log1p(self.high)
        elif self.logarithmic:
            along = math.log(number / self.low) / math.log(self.high / self.low)
        else:
            along = (number - self.low) / (self.high - self.low)
        along = min(max(along, 0.0), 1.0)
        return self.inset + (1 - 2 * self.inset) * (1 - along if self.turned else along)

    def ticks(self, most: int = 5) -> tuple[float, ...]:
        """Round numbers between the ends, ascending, about `most` at most."""
        if self.is_point:
            return (self.low,)
        if self.logarithmic and self.low <= 0:
            return (0.0, *_powers(1.0, max(self.high, 1.0), most))
        return _powers(self.low, self.high, most + 2) if self.logarithmic else round_numbers(self.low, self.high, most)


def round_numbers(low: float, high: float, most: int = 5) -> tuple[float, ...]:
    """The multiples of a step between the limits, ends included: as many as possible, at most `most`.

    The step is 1, 2 or 5 times a power of ten. The limits must differ by more than rounding.
    """
    least = math.floor(math.log10((high - low) / most)) - 1
    steps = ((step, exponent) for exponent in count(least) for step in _STEPS)
    within = (_multiples(low, high, step, exponent) for step, exponent in steps)
    return next(tuple(numbers) for numbers in within if len(numbers) <= most)


def _multiples(low: float, high: float, step: int, exponent: int) -> Sequence[float]:
    """The multiples of `step` times a power of ten between the limits."""
    unit = step * 10.0**exponent
    first, last = math.ceil(low / unit - _ALIKE), math.floor(high / unit + _ALIKE)
    return [_multiple(number * step, exponent) for number in range(first, last + 1)]


def _multiple(number: int, exponent: int) -> float:
    """A whole number times a power of ten; the division gives the nearest number to the decimal one."""
    return float(number * 10**exponent) if exponent >= 0 else number / 10**-exponent


def _powers(low: float, high: float, most: int) -> tuple[float, ...]:
    """Powers of ten between the limits, with 2 and 5 times these if there is room, else every second power."""
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in (_STEPS, (1,)):
        numbers = [_multiple(step, exponent) for exponent in exponents for step in steps]
        within = [value for value in numbers if low * (1 - _ALIKE) <= value <= high * (1 + _ALIKE)]
        if len(within) <= most:
            return tuple(within)
    return tuple(within[:: math.ceil(len(within) / most)])


def chosen_ticks(scale: Scale, numbers: Sequence[float], written: Callable[[float], str]) -> tuple[float, ...]:
    """The ticks of an axis: the numbers that occur, if they are few, else round ones."""
    few = sorted(set(numbers))
    occurring = len(few) <= len(_STEPS) * 2 and not scale.is_point
    ticks = few if occurring else scale.ticks()
    return tuple(sorted(_that_fit(scale, ticks, written)))


def _that_fit(scale: Scale, ticks: Sequence[float], written: Callable[[float], str]) -> Iterator[float]:
    """The ticks whose texts do not touch on a phone; the ends take precedence."""
    taken: list[tuple[float, float]] = []
    for tick in dict.fromkeys([*ticks[:1], *ticks[-1:], *ticks]):
        middle, half = scale.place(tick) * NARROWEST, (len(written(tick)) * _CHARACTER + _BETWEEN) / 2
        if all(middle + half <= left or middle - half >= right for left, right in taken):
            taken.append((middle - half, middle + half))
            yield tick


LONGEST: Final = 18
_LINE: Final = 14.0
_RISE: Final = 7.0
_BESIDE: Final = 7.0
_BEYOND: Final = 12.0
"""The distance that a text may extend beyond the plot."""


def text_width(text: str, size: float = 12.0) -> float:
    """Approximate width of a text in pixels, rather too large than too small: there is no font to measure."""
    wide = sum(
        0 if combining(character) else 1.0 if east_asian_width(character) in "WFA" else 0.56 for character in text
    )
    return wide * size


@dataclass(frozen=True)
class Box:
    """A rectangle in pixels of the narrowest plot."""

    left: float
    right: float
    top: float
    bottom: float

    def overlaps(self, other: "Box") -> bool:
        """Whether the two have more than an edge in common."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


@dataclass(frozen=True)
class Named:
    """A point that may have its name beside it; `is_first`: its name is always shown.

    Attributes:
        more: The number of further points at the same position.
        along: Its horizontal position, as a share of the width.
        height: Pixels from the top; `top` is the upper end of its interval.
        expected: What a model should reach on it, which is shown of the first; empty if not known.
    """

    name: str
    more: int
    along: float
    height: float
    top: float
    is_first: bool = False
    expected: str = ""

    @property
    def text(self) -> str:
        """The text beside it."""
        reached = f": {self.expected}" if self.is_first and self.expected else ""
        return cut(self.name, LONGEST) + (f" and {self.more:,} more" if self.more else "") + reached


@dataclass(frozen=True)
class Level:
    """A line across the plot: its name, its distance from the top in pixels, and whether its name is at the right."""

    text: str
    height: float
    at_end: bool = True

    def box_in(self, room: float = NARROWEST) -> Box:
        """The box of its name in a plot of this width in pixels."""
        width = text_width(self.text)
        left = room - width if self.at_end else 0.0
        return Box(left, left + width, self.height - _RISE - _LINE, self.height)


@dataclass(frozen=True)
class PointLabel:
    """The name beside the point of this index, `dx` pixels from the point's `x`, with `y` as its baseline.

    The `anchor` is `start` or `end`; `is_first` that of the best configuration.
    """

    number: int
    text: str
    x: str
    dx: str
    y: str
    anchor: str
    is_first: bool = False


def labels_of(points: Sequence[Named], taken: Sequence[Box]) -> list[PointLabel]:
    """The labels that overlap neither each other nor the taken boxes. Points come in order of importance."""
    boxes, labels = list(taken), []
    for place_in_order, point in enumerate(points):
        label, box = _beside(place_in_order, point)
        if point.is_first or (box.left >= -_BEYOND and not any(box.overlaps(other) for other in boxes)):
            boxes.append(box)
            labels.append(label)
    return labels


def _beside(number: int, point: Named) -> tuple[PointLabel, Box]:
    """The name at the right of a point, or above its interval if there is no room at the right."""
    width, x = text_width(point.text), point.along * NARROWEST
    starts = x + _BESIDE + width <= NARROWEST + _BEYOND
    shift, y = (_BESIDE, point.height - _RISE) if starts else (_BEYOND, min(point.top - 2, point.height - _RISE))
    anchor, left = ("start", x + shift) if starts else ("end", x + shift - width)
    label = PointLabel(number, point.text, place(point.along), pixels(shift), pixels(y), anchor, point.is_first)
    return label, Box(left, left + width, y - _LINE, y + 2)


@dataclass(frozen=True)
class Tick:
    """A number beside an axis: its text and its position."""

    at: str
    text: str


def grid(across: Sequence[Tick], up: Sequence[Tick]) -> Markup:
    """The axes with their numbers, and a horizontal line for each number upward."""
    parts = []
    for tick in up:
        parts.append(tag("line", class_="chart-grid", x1="0", x2="100%", y1=tick.at, y2=tick.at))
        parts.append(tag("text", tick.text, class_="chart-tick", x=-8, y=tick.at, dy=4, text_anchor="end"))
    for tick in across:
        parts.append(tag("line", class_="chart-stub", x1=tick.at, x2=tick.at, y1=HEIGHT, y2=HEIGHT + 5))
        parts.append(tag("text", tick.text, class_="chart-tick", x=tick.at, y=HEIGHT + 20, text_anchor="middle"))
    return joined(*parts, tag("line", class_="chart-base", x1="0", x2="100%", y1=HEIGHT, y2=HEIGHT))


def level_lines(levels: Sequence[Level]) -> Markup:
    """Horizontal lines with their names."""
    parts = []
    for level in levels:
        y = pixels(level.height)
        x, dx, anchor = ("100%", 0, "end") if level.at_end else ("0", 4, "start")
        parts.append(tag("line", class_="chart-level", x1="0", x2="100%", y1=y, y2=y))
        parts.append(tag("text", level.text, class_="chart-level-name", x=x, y=y, dx=dx, dy=-5, text_anchor=anchor))
    return joined(*parts)


def stretched(path: Markup) -> Markup:
    """A path in a drawing `STRETCHED` wide and `HEIGHT` high, stretched to the width of the plot."""
    view = f"0 0 {STRETCHED} {HEIGHT}"
    return tag("svg", path, width="100%", height=HEIGHT, viewBox=view, preserveAspectRatio="none")
