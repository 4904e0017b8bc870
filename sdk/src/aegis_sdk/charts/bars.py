"""Bar charts: costs of maskings, records by label, two configurations side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from aegis_sdk.charts.drawing import (
    Cell,
    Column,
    Drawing,
    Markup,
    Table,
    cut,
    hatch,
    isolated,
    joined,
    pixels,
    place,
    tag,
)
from aegis_sdk.charts.plot import NARROWEST, Axis, Interval, Scale, drawable
from aegis_sdk.printable import DASH, number, percent

Tone = Literal["plain", "best", "second"]
"""The fill of a bar: plain, that of the best configuration, or hatched for the second of a pair."""

_HEADING: Final = 28
_ROW: Final = 32
_TEXT: Final = 13
"""The baseline of a text, below the top of its row."""
_BAR: Final = 18
_THICK: Final = 8
_AXIS: Final = 26
_AFTER: Final = 10
"""The space after a group."""
_CHARACTER: Final = 6.7
_GAP: Final = 24.0
_WIDTH: Final = NARROWEST + 56
"""The width of a bar chart on a phone, without numbers at its left."""
_LEAST: Final = 12
_NEAR: Final = 0.06
_MOST_ROWS: Final = 200
_MOST_CATEGORIES: Final = 20


@dataclass(frozen=True)
class Bar:
    """A bar.

    Attributes:
        text: Its number as text.
        start: Its start, above 0 if only a range is known.
        interval: The limits of `end`.
        whole: Its maximum, drawn as an outline.
        is_whole_certain: Whether the maximum is known; otherwise the outline is dashed.
        mark: A character for its owner, such as ★ for the best configuration.
    """

    name: str
    end: float
    text: str
    start: float = 0.0
    interval: Interval | None = None
    whole: float | None = None
    is_whole_certain: bool = True
    tone: Tone = "plain"
    mark: str = ""
    href: str | None = None

    @property
    def reach(self) -> float:
        """Its farthest drawn point."""
        return max(self.end, self.whole or 0.0, self.interval.high if self.interval else 0.0)

    @property
    def is_drawable(self) -> bool:
        """Whether it fits on an axis."""
        numbers = (self.start, self.end, self.whole or 0.0)
        return all(map(drawable, numbers)) and (self.interval is None or self.interval.is_drawable)


@dataclass(frozen=True)
class Group:
    """Bars under a heading; no heading if `name` is empty."""

    name: str
    bars: Sequence[Bar]
    note: str = ""


@dataclass(frozen=True)
class Bars:
    """Bars in groups.

    Attributes:
        ticks: The numbers below; round ones by default.
        legend: The meaning of each tone, as (tone, words); `whole` and `unsure` stand for outlines.
        rest: Groups that are only in the table.
        heads: Column headers of the table for headings and names of bars.
    """

    id: str
    title: str
    axis: Axis
    groups: Sequence[Group]
    ticks: Sequence[float] | None = None
    legend: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()
    rest: Sequence[Group] = ()
    heads: tuple[str, str] = ("attribute", "masking")
    empty: str = "There is nothing to draw."

    @cached_property
    def drawable(self) -> list[Group]:
        """The groups without the bars that do not fit on an axis."""
        kept = (Group(one.name, [bar for bar in one.bars if bar.is_drawable], one.note) for one in self.groups)
        return [each for each in kept if each.bars]

    @cached_property
    def scale(self) -> Scale:
        """The axis, which starts at 0."""
        reached = max((bar.reach for group in self.drawable for bar in group.bars), default=0.0)
        return Scale(0.0, max([reached, *(self.ticks or ())]) or 1.0)

    @cached_property
    def drawn(self) -> list[tuple[str, Bar]]:
        """The drawn bars, each with the heading of its group."""
        return [(group.name, bar) for group in self.drawable for bar in group.bars]

    @cached_property
    def drawing(self) -> Drawing | None:
        """The bars on their axis."""
        headings, bars, top = [], [], 0
        for group in self.drawable:
            if group.name:
                y = pixels(top + _TEXT + 4)
                headings.append(tag("text", cut(group.name, _room(group.note)), class_="chart-heading", x="0", y=y))
                if group.note:
                    headings.append(tag("text", group.note, class_="chart-beside", x="100%", y=y, text_anchor="end"))
                top += _HEADING
            for bar in group.bars:
                bars.append(self._bar(bar, top, group.name))
                top += _ROW
            top += _AFTER
        if not bars:
            return None
        base = tag("line", class_="chart-base", x1="0", x2="100%", y1=top, y2=top)
        legend = [(self._filled(tone, x=1, y=5, width=16), words) for tone, words in self.legend]
        if any(bar.interval is not None for _, bar in self.drawn):
            legend.append((tag("path", class_="chart-whisker", d="M2 9H16M2 5V13M16 5V13"), "95 % interval"))
        return Drawing(
            joined(*ticks_below(self.scale, self.axis, self.ticks, top), *headings, *bars, base),
            top + _AXIS,
            self.description,
            legend,
            hatch(f"{self.id}-hatch", "chart-hatch", 3),
            across=self.axis.title,
            frame="bars",
        )

    def _filled(self, tone: str, **places: str | float) -> Markup:
        fill = f"url(#{self.id}-hatch)" if tone == "second" else None
        return tag("rect", class_=f"chart-bar-{tone}", **places, height=_THICK, fill=fill)

    def _bar(self, bar: Bar, top: int, group: str) -> Markup:
        """A bar with its name, its number, the outline of its maximum, and its interval."""
        text_y, y = pixels(top + _TEXT), pixels(top + _BAR)
        name = cut(bar.name, _room(bar.text))
        best = " chart-name-best" if bar.tone == "best" else ""
        parts = [
            tag("title", self._words(bar, group)),
            tag("text", f"{bar.mark} " if bar.mark else None, name, class_=f"chart-name{best}", x="0", y=text_y),
            tag("text", bar.text, class_="chart-value", x="100%", y=text_y, text_anchor="end"),
        ]
        if bar.whole is not None:
            outline = "whole" if bar.is_whole_certain else "unsure"
            parts.append(self._filled(outline, x="0", y=y, width=place(self.scale.place(bar.whole))))
        start, end = self.scale.place(bar.start), self.scale.place(bar.end)
        parts.append(self._filled(bar.tone, x=place(start), y=y, width=place(end - start)))
        if bar.interval is not None:
            low, high = (place(self.scale.place(each)) for each in (bar.interval.low, bar.interval.high))
            middle, foot = pixels(top + _BAR + _THICK / 2), pixels(top + _BAR + _THICK)
            across = {"x1": low, "x2": high, "y1": middle, "y2": middle}
            ends = ({"x1": end, "x2": end, "y1": y, "y2": foot} for end in (low, high))
            parts += [tag("line", class_="chart-whisker", **line) for line in (across, *ends)]
        return tag("g", *parts)

    def _words(self, bar: Bar, group: str) -> str:
        limits = f" ({self.axis.interval_written(bar.interval)})" if bar.interval else ""
        heading = f"{isolated(group)}, " if group else ""
        mark = f" {bar.mark}" if bar.mark else ""
        return f"{heading}{isolated(bar.name)}{mark}: {bar.text}{limits}"

    @property
    def all_notes(self) -> list[str]:
        """The notes, including one on what is not drawn."""
        missing = sum(len(group.bars) for group in self.groups) - len(self.drawn)
        more = [f"{missing:,} are not drawn, since a number is missing or too large."] if missing else []
        return [*self.notes, *more]

    @property
    def description(self) -> str:
        """The chart in words: its axis and its first bars."""
        first = "; ".join(self._words(bar, group) for group, bar in self.drawn[:3])
        more = f"; and {len(self.drawn) - 3:,} more bars" if len(self.drawn) > 3 else ""  # noqa: PLR2004 - as above
        return f"{self.axis.title}. {first}{more}."

    @cached_property
    def table(self) -> Table:
        """The numbers, including those of groups that are not drawn."""
        bars = [(group, bar) for group in (*self.groups, *self.rest) for bar in group.bars]
        has_headings = any(group.name for group, _ in bars)
        has_intervals = any(bar.interval is not None for _, bar in bars)
        has_wholes = any(bar.whole is not None for _, bar in bars)
        rows: list[list[Cell]] = []
        for group, bar in bars:
            row = [Cell(group.name)] if has_headings else []
            row += [Cell(f"{bar.name} {bar.mark}" if bar.mark else bar.name, href=bar.href), Cell(bar.text, bar.end)]
            row += [Cell(self.axis.interval_written(bar.interval))] if has_intervals else []
            if has_wholes:
                row.append(Cell(DASH) if bar.whole is None else Cell(self.axis.written(bar.whole), bar.whole))
            rows.append(row)
        heading, name = self.heads
        columns = [Column(heading)] if has_headings else []
        columns += [Column(name), Column(self.axis.name, is_number=True)]
        columns += [Column("95 % interval", is_number=True)] if has_intervals else []
        columns += [Column("of", is_number=True)] if has_wholes else []
        note = f"The first {_MOST_ROWS} of {len(rows):,}." if len(rows) > _MOST_ROWS else ""
        return Table(f"{self.title}: the numbers", columns, rows[:_MOST_ROWS], note)


def _room(beside: str) -> int:
    """The number of characters of a name that fit beside its number on a phone."""
    return max(_LEAST, int((_WIDTH - _GAP) / _CHARACTER) - len(beside))


def ticks_below(scale: Scale, axis: Axis, ticks: Sequence[float] | None, bottom: int) -> Iterator[Markup]:
    """The numbers below bars, each with a line upwards, anchored so that none leaves the drawing."""
    for tick in scale.ticks() if ticks is None else ticks:
        along = scale.place(tick)
        at, anchor = place(along), "start" if along < _NEAR else "end" if along > 1 - _NEAR else "middle"
        yield tag("line", class_="chart-grid", x1=at, x2=at, y1="0", y2=bottom)
        yield tag("text", axis.written(tick), class_="chart-tick", x=at, y=bottom + 18, text_anchor=anchor)


def category_bars(
    id: str,  # noqa: A002 - the name that HTML has for it
    title: str,
    counts: Sequence[tuple[str, float]],
    *,
    what: str = "records",
    notes: Sequence[str] = (),
) -> Bars:
    """A bar for each category and its frequency, in their order; beyond 20, the others share one."""
    total = sum(count for _, count in counts)
    bars = [_category(name, count, total) for name, count in counts]
    few = _MOST_CATEGORIES - 1
    shown, others = (bars, []) if len(bars) <= _MOST_CATEGORIES else (bars[:few], bars[few:])
    together = [_category(f"{len(others):,} others together", sum(bar.end for bar in others), total)] if others else []
    return Bars(
        id,
        title,
        Axis(what, what),
        [Group("", [*shown, *together])] if bars else [],
        notes=notes,
        rest=[Group("", others)] if others else [],
        heads=("", "value"),
        empty=f"No {what} are counted.",
    )


def _category(name: str, count: float, total: float) -> Bar:
    share = f" ({percent(count / total)})" if total > 0 else ""
    return Bar(name, max(count, 0.0), f"{number(count)}{share}")
