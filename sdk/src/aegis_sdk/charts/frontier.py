"""Utility against privacy: each configuration is a point, the frontier a line."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Final

from aegis_sdk.charts.drawing import Cell, Column, Drawing, Markup, Table, isolated, joined, pixels, place, tag
from aegis_sdk.charts.plot import (
    HEIGHT,
    STRETCHED,
    TOP,
    Axis,
    Level,
    Named,
    PointLabel,
    Scale,
    Tick,
    chosen_ticks,
    ends_of,
    grid,
    labels_of,
    level_lines,
    round_numbers,
    stretched,
)
from aegis_sdk.charts.points import Chosen, Mark, Point, chosen_of

_INSET: Final = 0.04
_NARROW: Final = 0.5
"""If all shares are above this, their axis does not start at 0."""
_MOST_ROWS: Final = 100
_MOST_WHISKERS: Final = 60
"""With more marks, only those on the frontier show their intervals."""
_MOST_EDGE_WHISKERS: Final = 12
"""With more on the frontier, only those with names show them."""
_Y_TICKS: Final = 6
_EXPLAINED: Final = MappingProxyType(
    {
        "best": "the best ranked",
        "edge": "on the frontier: no other is better in both",
        "other": "another configuration",
        "alike": "cannot be told apart from the best (95 %)",
    }
)
_SHAPES: Final = MappingProxyType(
    {
        "best": ("path", {"d": "M0-9.5 2.4-3.1 9-2.9 3.8 1.3 5.6 7.7 0 4-5.6 7.7-3.8 1.3-9-2.9-2.4-3.1Z"}),
        "edge": ("circle", {"r": "5"}),
        "other": ("circle", {"r": "3.5"}),
        "alike-edge": ("path", {"d": "M0-7 7 0 0 7-7 0Z"}),
        "alike-other": ("path", {"d": "M0-5.5 5.5 0 0 5.5-5.5 0Z"}),
    }
)


@dataclass(frozen=True)
class DrawnMark:
    """A mark with its position.

    Attributes:
        kind: `best`, `edge`, `alike`, `alike-edge` or `other`; decides shape and colour.
        x: Its horizontal position, as a share of the width.
        y: Its distance from the top, in pixels; `high` and `low` are the ends of its interval, if that is drawn.
        words: Its description for screen readers.
    """

    mark: Mark
    kind: str
    x: str
    y: str
    high: str | None
    low: str | None
    words: str

    @property
    def has_focus(self) -> bool:
        """Whether it takes the keyboard focus: the best and the frontier do, not hundreds of others."""
        return self.mark.on_frontier or self.mark.first.is_best


@dataclass(frozen=True)
class Frontier:
    """Configurations as points in a plane.

    Attributes:
        points: The configurations, the best ranked first.
    """

    id: str
    title: str
    x: Axis
    y: Axis
    points: Sequence[Point]
    notes: Sequence[str] = ()
    empty: str = "There is nothing to draw."

    @cached_property
    def chosen(self) -> Chosen:
        """The drawn marks."""
        return chosen_of(self.points, self.x, self.y)

    @cached_property
    def across(self) -> Scale:
        """The axis to the right."""
        numbers = (mark.first.x for mark in self.chosen.marks)
        return Scale.over(numbers, turned=not self.x.higher_is_better, inset=_INSET)

    @cached_property
    def up(self) -> Scale:
        """The upward axis, which starts at 0 unless all shares are high."""
        numbers = [number for mark in self.chosen.marks for number in ends_of(mark.first.y, mark.first.interval)]
        numbers += [max(self.y.levels.values())] if self.y.levels else []
        low, high = min(numbers, default=0.0), max(numbers, default=1.0)
        low = min(low, 0.0) if self.y.unit != "share" or low <= _NARROW else _floor(low)
        if self.y.unit == "rank":
            low = 1.0
        return Scale(low, high, turned=not self.y.higher_is_better)

    def height(self, value: float) -> float:
        """The distance of a number from the top, in pixels."""
        return TOP + (HEIGHT - TOP) * (1 - self.up.place(value))

    @cached_property
    def x_ticks(self) -> list[Tick]:
        """The numbers below the plot."""
        ticks = chosen_ticks(self.across, [mark.first.x for mark in self.chosen.marks], self.x.written)
        return [Tick(place(self.across.place(tick)), self.x.written(tick)) for tick in ticks]

    @cached_property
    def y_ticks(self) -> list[Tick]:
        """The numbers at the left of the plot."""
        ticks = [tick for tick in self.up.ticks(_Y_TICKS) if self.y.unit != "rank" or tick.is_integer()]
        first = [1.0] if self.y.unit == "rank" and 1.0 not in ticks else []
        return [Tick(pixels(self.height(tick)), self.y.written(tick)) for tick in [*first, *ticks]]

    @cached_property
    def levels(self) -> list[Level]:
        """The levels within the plot; the names of low ones are at the left, where there are no points."""
        within = [(name, level) for name, level in self.y.levels.items() if self.up.low <= level <= self.up.high]
        return [Level(name, self.height(level), at_end=self.height(level) < HEIGHT / 2) for name, level in within]

    @cached_property
    def drawn(self) -> list[DrawnMark]:
        """The marks with their positions."""
        with_whiskers: Sequence[Mark] = self.chosen.marks  # few enough not to cover everything
        edge = [mark for mark in self.chosen.marks if mark.on_frontier or mark.first.is_best]
        if len(edge) > _MOST_EDGE_WHISKERS:
            with_whiskers = [self._important[label.number] for label in self.labels]
        elif len(self.chosen.marks) > _MOST_WHISKERS:
            with_whiskers = edge
        whiskers = {id(mark) for mark in with_whiskers}
        return [self._drawn(mark, whiskers=id(mark) in whiskers) for mark in self.chosen.marks]

    def _drawn(self, mark: Mark, *, whiskers: bool) -> DrawnMark:
        first, high, low = mark.first, None, None
        if whiskers and first.interval is not None:
            high, low = sorted(self.height(each) for each in (first.interval.low, first.interval.high))
        return DrawnMark(
            mark,
            _kind(mark),
            place(self.across.place(first.x)),
            pixels(self.height(first.y)),
            None if high is None else pixels(high),
            None if low is None else pixels(low),
            self._words(mark),
        )

    def _words(self, mark: Mark) -> str:
        """The description of a mark: its name, both numbers, the interval and its roles."""
        first, more = mark.first, len(mark.points) - 1
        others = f" and {more:,} more" if more else ""
        limits = f" ({self.y.interval_written(first.interval)})" if first.interval else ""
        numbers = f"{self.y.name} {self.y.written(first.y)}{limits}, {self.x.name} {self.x.written(first.x)}"
        numbers += f", expected {first.expected}" if first.expected else ""
        return f"{isolated(first.name)}{others}: {numbers}{''.join(f'; {role}' for role in roles(mark))}"

    @cached_property
    def path(self) -> str:
        """The line of the frontier as SVG path data, in a drawing `STRETCHED` wide and `HEIGHT` high.

        The utility of a configuration is also available at less protection, so the line is a step function that rises
        at each point. Steps of less than a pixel are left out.
        """
        corners: dict[tuple[int, int], tuple[float, float]] = {}
        for x, y in self.chosen.steps:
            corner = (self.across.place(x) * STRETCHED, self.height(y))
            corners[round(corner[0] / 2), round(corner[1])] = corner
        first, *others = corners.values()
        parts = [f"M{pixels(first[0])} {pixels(first[1])}"]
        parts += [f"V{pixels(y)}H{pixels(x)}" for x, y in others]
        return "".join(parts)

    @cached_property
    def _important(self) -> list[Mark]:
        """The marks that may have names, by importance: the best, the end of the frontier, and the rest of it."""
        edge = [mark for mark in self.chosen.marks if mark.on_frontier and not mark.first.is_best]
        best = [mark for mark in self.chosen.marks if mark.first.is_best]
        return [*best, *edge[-1:], *edge[:-1]]

    @cached_property
    def labels(self) -> list[PointLabel]:
        """The names beside marks, as far as they fit."""
        return labels_of([self._named(mark) for mark in self._important], [level.box_in() for level in self.levels])

    def _named(self, mark: Mark) -> Named:
        first = mark.first
        top = min(self.height(number) for number in ends_of(first.y, first.interval))
        more, x, y = len(mark.points) - 1, self.across.place(first.x), self.height(first.y)
        return Named(first.name, more, x, y, top, first.is_best, first.expected)

    @property
    def kinds(self) -> list[str]:
        """The kinds of marks in the legend."""
        drawn = {mark.kind for mark in self.drawn}
        kinds = [kind for kind in ("best", "edge", "other") if kind in drawn or f"alike-{kind}" in drawn]
        return [*kinds, *sorted(kind for kind in drawn if kind.startswith("alike"))[:1]]

    @property
    def has_whiskers(self) -> bool:
        """Whether intervals are drawn."""
        return any(mark.high is not None for mark in self.drawn)

    @property
    def all_notes(self) -> Iterator[str]:
        """The notes, including those on what is not drawn."""
        yield from self.notes
        if self.chosen.left_out:
            shown = len(self.points) - self.chosen.left_out - self.chosen.unplaced
            yield f"{shown:,} of {len(self.points):,} configurations are drawn, the best among them."
        if self.has_whiskers and sum(1 for mark in self.drawn if mark.high is not None) < len(self.drawn):
            yield "Intervals are drawn where there is room."
        if self.chosen.unplaced:
            yield f"{self.chosen.unplaced:,} have no place in the plot, since a number is missing or too large."
        if self.y.unit == "share" and self.up.low > 0:
            yield f"The upward axis starts at {self.y.written(self.up.low)}."
        if self.across.logarithmic:
            yield f"The axis of {self.x.name} is logarithmic."

    @property
    def description(self) -> str:
        """The chart in one or two sentences, for screen readers."""
        edge = sum(1 for mark in self.chosen.marks if mark.on_frontier)
        best = [self._words(mark) for mark in self.chosen.marks if mark.first.is_best]
        count = f"{len(self.drawn):,} places of configurations; {edge:,} on the frontier, from the least to the most"
        return ". ".join([f"{self.y.title}, against {self.x.title}", f"{count} protective", *best]) + "."

    @cached_property
    def drawing(self) -> Drawing | None:
        """The points, the line of the frontier and the levels."""
        if not self.drawn:
            return None
        legend = [(self._sign(kind, 9, 9), _EXPLAINED[kind.partition("-")[0]]) for kind in self.kinds]
        if self.has_whiskers:
            legend.append((tag("line", class_="chart-whisker", x1=9, x2=9, y1=1, y2=17), "95 % interval"))
        shapes = (tag(name, id=f"{self.id}-{kind}", **shape) for kind, (name, shape) in _SHAPES.items())
        return Drawing(
            self._content(),
            HEIGHT + 26,
            self.description,
            legend,
            joined(*shapes),
            up=self.y.title,
            across=self.x.title,
            is_image=False,
        )

    def _content(self) -> Markup:
        line = stretched(tag("path", class_="chart-line", d=self.path, vector_effect="non-scaling-stroke"))
        names = (
            tag(
                "text",
                label.text,
                class_=f"chart-label{' chart-label-best' if label.is_first else ''}",
                x=label.x,
                y=label.y,
                dx=label.dx,
                text_anchor=label.anchor,
            )
            for label in self.labels
        )
        return joined(
            tag(
                "g",
                grid(self.x_ticks, self.y_ticks),
                level_lines(self.levels),
                *(self._shown(mark) for mark in self.drawn if not mark.has_focus),
                line if len(self.chosen.steps) > 1 else None,
                aria_hidden="true",
            ),
            *(self._shown(mark) for mark in self.drawn if mark.has_focus),
            tag("g", *names, aria_hidden="true"),
        )

    def _shown(self, each: DrawnMark) -> Markup:
        """A mark with a link to its configuration and a description."""
        href, parts = each.mark.first.href, [tag("title", each.words)]
        attributes: dict[str, str] = {}
        if each.has_focus:
            parts.append(tag("circle", class_="chart-target", cx=each.x, cy=each.y, r=12))
            attributes = {"aria_label": each.words} | ({} if href else {"role": "img", "tabindex": "0"})
        elif href:
            attributes = {"tabindex": "-1"}
        if each.high is not None:
            parts.append(tag("line", class_="chart-whisker", x1=each.x, x2=each.x, y1=each.high, y2=each.low))
        parts.append(self._sign(each.kind, each.x, each.y))
        return tag("a", *parts, href=href, **attributes) if href else tag("g", *parts, **attributes)

    def _sign(self, kind: str, x: str | int, y: str | int) -> Markup:
        return tag("use", href=f"#{self.id}-{kind}", class_=f"chart-{kind}", x=x, y=y)

    @cached_property
    def table(self) -> Table:
        """The numbers: the frontier first, then the others by rank."""
        rank = {id(point): number for number, point in enumerate(self.points)}
        marks = sorted(self.chosen.marks, key=lambda each: (not each.on_frontier, rank[id(each.first)]))
        expects = any(point.expected for point in self.points)
        rows = [
            (
                Cell(point.name, href=point.href),
                Cell(self.y.written(point.y), point.y),
                Cell(self.y.interval_written(point.interval)),
                *([Cell(point.expected)] if expects else ()),
                Cell(self.x.written(point.x), point.x),
                Cell(", ".join(roles(Mark((point,), mark.on_frontier)))),
            )
            for mark in marks
            for point in mark.points
        ]
        y, x = Column(self.y.name, is_number=True), Column(self.x.name, is_number=True)
        expected = [Column("expected", is_number=True)] if expects else []
        columns = (
            Column("configuration"),
            y,
            Column("95 % interval", is_number=True),
            *expected,
            x,
            Column("what it is"),
        )
        note = f"The first {_MOST_ROWS} of {len(rows):,} that are drawn." if len(rows) > _MOST_ROWS else ""
        return Table(f"{self.title}: the numbers", columns, rows[:_MOST_ROWS], note)


def roles(mark: Mark) -> list[str]:
    """The roles of a mark, in words."""
    if mark.first.is_best:
        return ["the best", *(["on the frontier"] if mark.on_frontier else [])]
    named = {"on the frontier": mark.on_frontier, "cannot be told apart from the best": mark.is_alike}
    return [words for words, holds in named.items() if holds]


def _kind(mark: Mark) -> str:
    if mark.first.is_best:
        return "best"
    edge = "edge" if mark.on_frontier else "other"
    return f"alike-{edge}" if mark.is_alike else edge


def _floor(low: float) -> float:
    """The greatest round share below all others, so that the plot is not mostly empty."""
    if low >= 1:
        return 0.0
    step = round_numbers(low, 1.0, _Y_TICKS)
    width = step[1] - step[0] if len(step) > 1 else 1 - low
    return max(0.0, round((low // width) * width, 10))
