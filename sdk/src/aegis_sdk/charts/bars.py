"""Bar charts: costs of maskings, records by label, two configurations side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from aegis_sdk.charts.drawing import Cell, Column, Drawing, Markup, Table, cut, isolated, joined, pixels, place, tag
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
class DrawnText:
    """A text and its distance from the top, in pixels."""

    text: str
    y: str
    whole_text: str = ""


@dataclass(frozen=True)
class DrawnBar:
    """A bar with its position: shares of the width across, pixels from the top."""

    bar: Bar
    name: str
    text_y: str
    y: str
    middle: str
    foot: str
    start: str
    length: str
    whole: str | None
    low: str | None
    high: str | None
    words: str


@dataclass(frozen=True)
class Bars:
    """Bars in groups.

    Attributes:
        id: Of the element: letters, digits and hyphens.
        title: The heading.
        axis: The axis of the lengths.
        groups: The bars that are drawn.
        ticks: The numbers below; round ones by default.
        legend: The meaning of each tone, as (tone, words); `whole` and `unsure` stand for outlines.
        notes: Notes for readers, as sentences.
        rest: Groups that are only in the table.
        heads: Column headers of the table for headings and names of bars.
        empty: The text if there is nothing to draw.
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
    def _layout(self) -> tuple[list[DrawnText], list[DrawnBar], int]:
        """Headings, bars, and the position of the axis."""
        headings, bars, top = [], [], 0
        for group in self.drawable:
            if group.name:
                headings.append(DrawnText(cut(group.name, _room(group.note)), pixels(top + _TEXT + 4), group.note))
                top += _HEADING
            for bar in group.bars:
                bars.append(self._bar(bar, top, group.name))
                top += _ROW
            top += _AFTER
        return headings, bars, top

    @property
    def drawn(self) -> list[DrawnBar]:
        """The bars with their positions."""
        return self._layout[1]

    @property
    def bottom(self) -> int:
        """The position of the axis, in pixels from the top."""
        return self._layout[2]

    @cached_property
    def drawing(self) -> Drawing | None:
        """The bars on their axis."""
        if not self.drawn:
            return None
        return Drawing(
            self._content(),
            self.bottom + _AXIS,
            self.description,
            list(self._signs()),
            hatch(self.id),
            across=self.axis.title,
            frame="bars",
        )

    def _signs(self) -> Iterator[tuple[Markup, str]]:
        for tone, words in self.legend:
            yield self._filled(tone, x=1, y=5, width=16), words
        if self.has_whiskers:
            yield tag("path", class_="chart-whisker", d="M2 9H16M2 5V13M16 5V13"), "95 % interval"

    def _filled(self, tone: str, **places: str | float) -> Markup:
        fill = f"url(#{self.id}-hatch)" if tone == "second" else None
        return tag("rect", class_=f"chart-bar-{tone}", **places, height=_THICK, fill=fill)

    def _content(self) -> Markup:
        headings = (
            joined(
                tag("text", heading.text, class_="chart-heading", x="0", y=heading.y),
                tag("text", heading.whole_text, class_="chart-beside", x="100%", y=heading.y, text_anchor="end")
                if heading.whole_text
                else None,
            )
            for heading in self._layout[0]
        )
        return joined(
            *ticks_below(self.scale, self.axis, self.ticks, self.bottom),
            *headings,
            *map(self._shown, self.drawn),
            tag("line", class_="chart-base", x1="0", x2="100%", y1=self.bottom, y2=self.bottom),
        )

    def _shown(self, each: DrawnBar) -> Markup:
        """A bar with its name, its number, the outline of its maximum, and its interval."""
        bar, best = each.bar, " chart-name-best" if each.bar.tone == "best" else ""
        mark = f"{bar.mark} " if bar.mark else None
        parts = [
            tag("title", each.words),
            tag("text", mark, each.name, class_=f"chart-name{best}", x="0", y=each.text_y),
            tag("text", bar.text, class_="chart-value", x="100%", y=each.text_y, text_anchor="end"),
        ]
        if each.whole is not None:
            parts.append(self._filled("whole" if bar.is_whole_certain else "unsure", x="0", y=each.y, width=each.whole))
        parts.append(self._filled(bar.tone, x=each.start, y=each.y, width=each.length))
        if each.low is not None and each.high is not None:
            across = {"x1": each.low, "x2": each.high, "y1": each.middle, "y2": each.middle}
            ends = ({"x1": end, "x2": end, "y1": each.y, "y2": each.foot} for end in (each.low, each.high))
            parts += [tag("line", class_="chart-whisker", **line) for line in (across, *ends)]
        return tag("g", *parts)

    def _bar(self, bar: Bar, top: int, group: str) -> DrawnBar:
        start, end = self.scale.place(bar.start), self.scale.place(bar.end)
        limits = (
            [place(self.scale.place(each)) for each in (bar.interval.low, bar.interval.high)] if bar.interval else []
        )
        low, high = limits or (None, None)
        return DrawnBar(
            bar,
            cut(bar.name, _room(bar.text)),
            pixels(top + _TEXT),
            pixels(top + _BAR),
            pixels(top + _BAR + _THICK / 2),
            pixels(top + _BAR + _THICK),
            place(start),
            place(end - start),
            None if bar.whole is None else place(self.scale.place(bar.whole)),
            low,
            high,
            self._words(bar, group),
        )

    def _words(self, bar: Bar, group: str) -> str:
        limits = f" ({self.axis.interval_written(bar.interval)})" if bar.interval else ""
        heading = f"{isolated(group)}, " if group else ""
        mark = f" {bar.mark}" if bar.mark else ""
        return f"{heading}{isolated(bar.name)}{mark}: {bar.text}{limits}"

    @property
    def has_whiskers(self) -> bool:
        """Whether intervals are drawn."""
        return any(bar.low is not None for bar in self.drawn)

    @property
    def all_notes(self) -> list[str]:
        """The notes, including one on what is not drawn."""
        missing = sum(len(group.bars) for group in self.groups) - len(self.drawn)
        more = [f"{missing:,} are not drawn, since a number is missing or too large."] if missing else []
        return [*self.notes, *more]

    @property
    def description(self) -> str:
        """The chart in words: its axis and its first bars."""
        first = "; ".join(bar.words for bar in self.drawn[:3])
        more = f"; and {len(self.drawn) - 3:,} more bars" if len(self.drawn) > 3 else ""  # noqa: PLR2004 - as above
        return f"{self.axis.title}. {first}{more}."

    @cached_property
    def table(self) -> Table:
        """The numbers, including those of groups that are not drawn."""
        rows = list(self._rows())
        heading, name = self.heads
        columns = [
            *([Column(heading)] if self._has_headings else []),
            Column(name),
            Column(self.axis.name, is_number=True),
            *([Column("95 % interval", is_number=True)] if self._has_intervals else []),
            *([Column("of", is_number=True)] if self._has_wholes else []),
        ]
        note = f"The first {_MOST_ROWS} of {len(rows):,}." if len(rows) > _MOST_ROWS else ""
        return Table(f"{self.title}: the numbers", columns, rows[:_MOST_ROWS], note)

    @cached_property
    def _all_bars(self) -> list[tuple[Group, Bar]]:
        return [(group, bar) for group in (*self.groups, *self.rest) for bar in group.bars]

    @property
    def _has_headings(self) -> bool:
        return any(group.name for group, _ in self._all_bars)

    @property
    def _has_intervals(self) -> bool:
        return any(bar.interval is not None for _, bar in self._all_bars)

    @property
    def _has_wholes(self) -> bool:
        return any(bar.whole is not None for _, bar in self._all_bars)

    def _rows(self) -> Iterator[tuple[Cell, ...]]:
        for group, bar in self._all_bars:
            mark = f" {bar.mark}" if bar.mark else ""
            yield (
                *([Cell(group.name)] if self._has_headings else []),
                Cell(f"{bar.name}{mark}", href=bar.href),
                Cell(bar.text, bar.end),
                *([Cell(self.axis.interval_written(bar.interval))] if self._has_intervals else []),
                *([_whole(bar, self.axis)] if self._has_wholes else []),
            )


def _whole(bar: Bar, axis: Axis) -> Cell:
    return Cell(DASH) if bar.whole is None else Cell(axis.written(bar.whole), bar.whole)


def _room(beside: str) -> int:
    """The number of characters of a name that fit beside its number on a phone."""
    return max(_LEAST, int((_WIDTH - _GAP) / _CHARACTER) - len(beside))


def _anchor(at: float) -> str:
    near = 0.06
    return "start" if at < near else "end" if at > 1 - near else "middle"


def ticks_below(scale: Scale, axis: Axis, ticks: Sequence[float] | None, bottom: int) -> Iterator[Markup]:
    """The numbers below bars, each with a line upwards, anchored so that none leaves the drawing."""
    for tick in scale.ticks() if ticks is None else ticks:
        along = scale.place(tick)
        at = place(along)
        yield tag("line", class_="chart-grid", x1=at, x2=at, y1="0", y2=bottom)
        yield tag("text", axis.written(tick), class_="chart-tick", x=at, y=bottom + 18, text_anchor=_anchor(along))


def hatch(id: str) -> Markup:  # noqa: A002 - the name that HTML has for it
    """The hatching of the second of a pair."""
    line = tag("rect", class_="chart-hatch", width=3, height=6)
    turned = {"patternUnits": "userSpaceOnUse", "patternTransform": "rotate(45)"}
    return tag("pattern", line, id=f"{id}-hatch", width=6, height=6, **turned)


def category_bars(
    id: str,  # noqa: A002 - the name that HTML has for it
    title: str,
    counts: Sequence[tuple[str, float]],
    *,
    what: str = "records",
    notes: Sequence[str] = (),
) -> Bars:
    """A bar for each category, in their order; beyond 20, the others share one.

    Args:
        id: Of the element.
        title: The heading.
        counts: The categories and their frequencies.
        what: What is counted.
        notes: Sentences below, for example about rounding.
    """
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
