"""Bars of several series by group, side by side or stacked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from aegis_sdk.charts.bars import ticks_below
from aegis_sdk.charts.drawing import Drawing, Markup, Table, Tone, bar, cut, hatches, isolated, joined, place, tag
from aegis_sdk.charts.plot import NARROWEST, Axis, Scale, text_width

_TEXT: Final = 13
_FIRST: Final = 18
"""The distance from the top of a group to its first bar."""
_THICK: Final = 9
_AFTER: Final = 12
_AXIS: Final = 26
_SAID: Final = 3
_GAP: Final = 24.0


@dataclass(frozen=True)
class Lengths:
    """(groups,) the lengths of a series, with its name in the legend and its colour."""

    name: str
    tone: Tone
    lengths: Sequence[float]


@dataclass(frozen=True)
class SeriesBars:
    """Groups of bars, from the top down.

    Attributes:
        is_stacked: Whether the bars of a group are stacked into one of full length.
        is_logarithmic: Whether the axis is nearly logarithmic, for counts that differ by orders of magnitude.
    """

    title: str
    axis: Axis
    groups: Sequence[str]
    series: Sequence[Lengths]
    is_stacked: bool = False
    is_logarithmic: bool = False
    notes: Sequence[str] = ()
    id: str = "bars"
    empty: str = "There is nothing to draw."

    @property
    def all_notes(self) -> Sequence[str]:
        """The notes."""
        return self.notes

    @property
    def table(self) -> Table | None:
        """None: the numbers are beside the bars, and pages show a table beside the chart."""
        return None

    @cached_property
    def scale(self) -> Scale:
        """The axis, which starts at 0."""
        longest = max((length for one in self.series for length in one.lengths), default=0.0)
        return Scale(0.0, 1.0 if self.is_stacked else longest or 1.0, logarithmic=self.is_logarithmic)

    @property
    def _step(self) -> int:
        """The height of a group in pixels."""
        beside = 1 if self.is_stacked else len(self.series)
        return _FIRST + beside * (_THICK + 2) + _AFTER

    @cached_property
    def drawing(self) -> Drawing | None:
        """The bars on their axis."""
        if not self.groups or not self.series:
            return None
        bottom = self._step * len(self.groups)
        return Drawing(
            joined(
                *ticks_below(self.scale, self.axis, None, bottom),
                *(self._group(number, name) for number, name in enumerate(self.groups)),
                tag("line", class_="chart-base", x1="0", x2="100%", y1=bottom, y2=bottom),
            ),
            bottom + _AXIS,
            self.description,
            [
                (bar(self.id, number, one.tone, x=1, y=5, width=16, height=_THICK), one.name)
                for number, one in enumerate(self.series)
            ],
            hatches(self.id, tuple(one.tone for one in self.series)),
            across=self.axis.title,
            frame="bars",
        )

    @property
    def description(self) -> str:
        """The chart in words: its axis and its first groups."""
        first = "; ".join(
            f"{isolated(name)}: {self._in_words(number)}" for number, name in enumerate(self.groups[:_SAID])
        )
        more = f"; and {len(self.groups) - _SAID:,} more" if len(self.groups) > _SAID else ""
        return f"{self.axis.title}. {first}{more}."

    def _in_words(self, number: int) -> str:
        return ", ".join(f"{isolated(one.name)} {self.axis.written(one.lengths[number])}" for one in self.series)

    def _group(self, number: int, name: str) -> Markup:
        """The name of a group with its bars below, and its numbers if there are few."""
        top = number * self._step
        numbers = "" if self.is_stacked else " · ".join(self.axis.written(one.lengths[number]) for one in self.series)
        longest = max(12, int((NARROWEST + 56 - _GAP - text_width(numbers)) / text_width("x")))
        return tag(
            "g",
            tag("title", f"{isolated(name)}: {self._in_words(number)}"),
            tag("text", cut(name, longest), class_="chart-name", x="0", y=top + _TEXT),
            tag("text", numbers, class_="chart-value", x="100%", y=top + _TEXT, text_anchor="end") if numbers else None,
            *self._bars(number, top + _FIRST),
        )

    def _bars(self, number: int, top: int) -> Iterator[Markup]:
        reached = 0.0
        for place_, one in enumerate(self.series):
            start, end = (reached, reached + one.lengths[number]) if self.is_stacked else (0.0, one.lengths[number])
            left, right = self.scale.place(start), self.scale.place(end)
            y = top if self.is_stacked else top + place_ * (_THICK + 2)
            if right > left:
                yield bar(self.id, place_, one.tone, x=place(left), y=y, width=place(right - left), height=_THICK)
            reached = end
