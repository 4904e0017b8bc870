"""What an axis shows: its words, its unit, which end is better, and how its numbers are written."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

from app.pages.charts.numbers import DASH, drawable, number, percent

Unit = Literal["share", "number", "rank"]

_WRITTEN: Final[Mapping[Unit, Callable[[float], str]]] = MappingProxyType(
    {"share": percent, "number": number, "rank": lambda rank: f"{rank:,.0f}"}
)


@dataclass(frozen=True)
class Interval:
    """The limits of a number."""

    low: float
    high: float

    @property
    def is_drawable(self) -> bool:
        """Whether both limits have a place on an axis."""
        return drawable(self.low) and drawable(self.high)


@dataclass(frozen=True)
class Axis:
    """An axis.

    Attributes:
        name: A word or two for the head of a column, such as `k`.
        title: What it shows, with the unit.
        unit: `share` for shares of 1, which are written in percent; `rank` for places in an order.
        higher_is_better: Which end is better. The better one is at the right or at the top.
        levels: Numbers that a line across the plot marks, by what they are.
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
        """The number, or its opposite if less is better: more of it is better."""
        return value if self.higher_is_better else -value
