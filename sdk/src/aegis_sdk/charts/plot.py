"""Common parts of plots: height, grid with numbers, levels and lines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from aegis_sdk.charts.labels import Level
from aegis_sdk.charts.markup import Markup, joined, tag

HEIGHT: Final = 320
"""The height of the plot in pixels."""
TOP: Final = 20
STRETCHED: Final = 1_000
"""The width of drawings that are stretched to the width of the plot."""


@dataclass(frozen=True)
class Tick:
    """A number beside an axis: its text and its position."""

    at: str
    text: str


def grid(across: Sequence[Tick], up: Sequence[Tick]) -> Markup:
    """The axes with their numbers, and a horizontal line for each number upward."""
    rows = (
        joined(
            tag("line", class_="chart-grid", x1="0", x2="100%", y1=tick.at, y2=tick.at),
            tag("text", tick.text, class_="chart-tick", x=-8, y=tick.at, dy=4, text_anchor="end"),
        )
        for tick in up
    )
    columns = (
        joined(
            tag("line", class_="chart-stub", x1=tick.at, x2=tick.at, y1=HEIGHT, y2=HEIGHT + 5),
            tag("text", tick.text, class_="chart-tick", x=tick.at, y=HEIGHT + 20, text_anchor="middle"),
        )
        for tick in across
    )
    base = tag("line", class_="chart-base", x1="0", x2="100%", y1=HEIGHT, y2=HEIGHT)
    return joined(*rows, *columns, base)


def level_lines(levels: Sequence[Level]) -> Markup:
    """Horizontal lines with their names."""
    return joined(*map(_level, levels))


def _level(level: Level) -> Markup:
    x, dx, anchor = ("100%", 0, "end") if level.at_end else ("0", 4, "start")
    return joined(
        tag("line", class_="chart-level", x1="0", x2="100%", y1=level.at, y2=level.at),
        tag("text", level.text, class_="chart-level-name", x=x, y=level.at, dx=dx, dy=-5, text_anchor=anchor),
    )


def stretched(path: Markup) -> Markup:
    """A path in a drawing `STRETCHED` wide and `HEIGHT` high, stretched to the width of the plot."""
    view = f"0 0 {STRETCHED} {HEIGHT}"
    return tag("svg", path, width="100%", height=HEIGHT, viewBox=view, preserveAspectRatio="none")
