"""Numbers against numbers or named positions: points with intervals, lines, or a map without axes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Self

from aegis_sdk.charts.drawing import (
    DASHES,
    Drawing,
    Markup,
    Table,
    Tone,
    cut,
    isolated,
    joined,
    mark,
    marks,
    pixels,
    place,
    tag,
)
from aegis_sdk.charts.plot import (
    HEIGHT,
    NARROWEST,
    STRETCHED,
    TOP,
    Axis,
    Box,
    Interval,
    Level,
    Scale,
    Tick,
    ends_of,
    grid,
    level_lines,
    stretched,
    text_width,
)
from aegis_sdk.printable import percent

_INSET: Final = 0.04
_WIDE: Final = 664.0
"""The width in pixels of a plot whose positions do not fit on a phone."""
_PLACE: Final = 92.0
_APART: Final = 0.14
_LINE: Final = 15
_LONGEST: Final = 28
_NUMBERED: Final = 2
"""With more series, numbers would overlap."""
_LOWEST, _HIGHEST = -0.3, 1.4
"""An interval beyond these shares leaves the plot."""
_FIFTHS: Final = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
_SAID: Final = 12


@dataclass(frozen=True)
class Spot:
    """A point: its numbers, their intervals if any, and its name."""

    x: float
    y: float
    across: Interval | None = None
    up: Interval | None = None
    name: str = ""


@dataclass(frozen=True)
class Measured:
    """A number with an optional interval."""

    value: float
    interval: Interval | None = None


@dataclass(frozen=True)
class Series:
    """Points of one kind.

    Attributes:
        name: The name in the legend, which shows only the first series of a name.
        spots: From left to right.
        is_joined: Whether a line joins them.
        has_marks: Whether points are marked; otherwise only the line is drawn.
        is_faint: Whether the line is thin, as one of many.
    """

    name: str
    tone: Tone
    spots: Sequence[Spot]
    is_joined: bool = False
    has_marks: bool = True
    is_faint: bool = False

    @classmethod
    def at_places(cls, name: str, tone: Tone, numbers: Sequence[Measured | None], *, is_joined: bool = False) -> Self:
        """A number at each position; `None` where there is none."""
        spots = [Spot(at, one.value, up=one.interval) for at, one in enumerate(numbers) if one is not None]
        return cls(name, tone, spots, is_joined)


@dataclass(frozen=True)
class Plane:
    """Series of points between two axes.

    Attributes:
        x: The axis to the right; its levels are vertical lines. Its title is empty on a map.
        y: The upward axis; its levels are horizontal lines.
        series: The points; later ones are drawn over earlier ones.
        places: The names of the positions 0, 1, 2, ... to the right, if these have names; may contain line breaks.
        marked: The chosen position, and its caption.
        is_whole: Whether the upward axis shows all shares up to 100 %.
        is_map: Whether there are no axes: only distances between points have a meaning.
    """

    x: Axis
    y: Axis
    series: Sequence[Series]
    places: Sequence[str] = ()
    marked: tuple[int, str] | None = None
    notes: Sequence[str] = ()
    is_whole: bool = True
    is_map: bool = False
    id: str = "plane"
    empty: str = "There is nothing to draw."

    @property
    def title(self) -> str:
        """The quantities of both axes."""
        if self.is_map:
            return self.y.title
        return f"{self.y.title[:1].upper()}{self.y.title[1:]}, by {self.x.title}"

    @property
    def all_notes(self) -> Sequence[str]:
        """The notes."""
        return self.notes

    @property
    def table(self) -> Table | None:
        """None: the numbers are in the description, and pages show a table beside the chart."""
        return None

    @cached_property
    def across(self) -> Scale:
        """The axis to the right."""
        if self.places:
            return Scale(-0.6, len(self.places) - 0.4)
        numbers = [end for spot in self._spots for end in ends_of(spot.x, spot.across)]
        known = [*numbers, *self.x.levels.values()]
        return Scale(min(known, default=0.0), max(known, default=0.0), inset=_INSET if self._has_marks else 0.0)

    @cached_property
    def up(self) -> Scale:
        """The upward axis, which starts at 0 except on a map."""
        numbers = [end for spot in self._spots for end in ends_of(spot.y, spot.up)]
        low, high = min(numbers, default=0.0), max(numbers, default=1.0)
        if self.is_map:
            return Scale(low, high, inset=_INSET)
        if not self.is_whole:
            return Scale(min(low, 0.0), high or 1.0)
        return Scale(max(_LOWEST, min(0.0, 1.1 * low)), min(_HIGHEST, max(1.0, high)))

    @property
    def _spots(self) -> Iterator[Spot]:
        return (spot for series in self.series for spot in series.spots)

    @property
    def _has_marks(self) -> bool:
        return any(series.has_marks for series in self.series)

    def height(self, value: float) -> float:
        """The distance of a number from the top, in pixels."""
        return TOP + (HEIGHT - TOP) * (1 - self.up.place(value))

    @cached_property
    def width(self) -> float | None:
        """The width in pixels if the positions do not fit on a phone."""
        needed = len(self.places) * _PLACE
        return max(needed, _WIDE) if needed > NARROWEST else None

    @property
    def _room(self) -> float:
        """The width for texts, in pixels."""
        return self.width or NARROWEST

    @cached_property
    def names(self) -> list[list[str]]:
        """The names of positions, in lines."""
        room = self._room * (self.across.place(1) - self.across.place(0)) - 6 if self.places else 0.0
        names = [_lines(name, room) for name in self.places]
        if self.marked is not None:
            names[self.marked[0]] += _lines(self.marked[1], room)
        return names

    @cached_property
    def levels(self) -> list[Level]:
        """The horizontal lines within the plot."""
        within = [(name, level) for name, level in self.y.levels.items() if self.up.low <= level <= self.up.high]
        return [Level(name, self.height(level)) for name, level in within]

    @cached_property
    def drawing(self) -> Drawing | None:
        """The series between their axes."""
        if not any(self._spots):
            return None
        below = max([26, *(10 + _LINE * len(lines) for lines in self.names)])
        return Drawing(
            joined(*self._content()),
            HEIGHT + below,
            self.description,
            list(self._legend()),
            marks(self.id),
            up="" if self.is_map else self.y.title,
            across="" if self.is_map else self.x.title,
            width=self.width,
        )

    @property
    def description(self) -> str:
        """The chart in words: its axes and the first numbers of each series."""
        said = (f"{series.name}: {self._said(series)}" for series in self.series[:_SAID])
        return f"{self.title}. {'. '.join(said)}."

    def _said(self, series: Series) -> str:
        if self.is_map:
            return f"{len(series.spots):,} points"
        first = [f"{isolated(self._name(spot))} {self.y.written(spot.y)}" for spot in series.spots[:_SAID]]
        more = [f"and {len(series.spots) - _SAID:,} more"] if len(series.spots) > _SAID else []
        return ", ".join([*first, *more])

    def _name(self, spot: Spot) -> str:
        if self.places:
            return " ".join(self.places[int(spot.x)].split())
        return spot.name or self.x.written(spot.x)

    def _legend(self) -> Iterator[tuple[Markup, str]]:
        """The first series of each name, with its mark or its line."""
        first = {series.name: number for number, series in reversed(list(enumerate(self.series)))}
        for number in sorted(first.values()):
            series = self.series[number]
            if series.has_marks:
                yield mark(self.id, number, series.tone, 9, 9), series.name
            else:
                yield _track(series, number, "M1 9H17"), series.name
        if any(spot.up or spot.across for spot in self._spots):
            yield tag("path", class_="chart-whisker", d="M9 2V16M6 2H12M6 16H12"), "interval"

    def _content(self) -> Iterator[Markup]:
        if self.marked is not None:
            left, right = (self.across.place(self.marked[0] + side) for side in (-0.45, 0.45))
            yield tag(
                "rect", class_="chart-chosen", x=place(left), width=place(right - left), y=TOP, height=HEIGHT - TOP
            )
        if not self.is_map:
            ticks = () if self.places else self.across.ticks()
            written = percent if self.is_whole else self.y.written
            yield grid(
                [Tick(place(self.across.place(tick)), self.x.written(tick)) for tick in ticks],
                [
                    Tick(pixels(self.height(tick)), written(tick))
                    for tick in (_FIFTHS if self.is_whole else self.up.ticks())
                ],
            )
        yield level_lines(self.levels)
        yield from self._names()
        for name, level in self.x.levels.items():
            at = place(self.across.place(level))
            yield tag("line", class_="chart-level", x1=at, x2=at, y1=TOP, y2=HEIGHT)
            yield tag("text", name, class_="chart-level-name", x=at, y=TOP - 6, text_anchor="middle")
        for number, series in enumerate(self.series):
            if series.is_joined or not series.has_marks:
                corners = ((self.along(spot, number) * STRETCHED, self.height(spot.y)) for spot in series.spots)
                path = "M" + "L".join(f"{pixels(x)} {pixels(y)}" for x, y in corners)
                yield stretched(_track(series, number, path))
        for number, series in enumerate(self.series):
            yield from self._marks(series, number)
        yield from self._labels()

    def _names(self) -> Iterator[Markup]:
        for at, lines in enumerate(self.names):
            strong = " chart-strong" if self.marked is not None and self.marked[0] == at else ""
            for number, line in enumerate(lines):
                x, y = place(self.across.place(at)), HEIGHT + 18 + _LINE * number
                yield tag("text", line, class_=f"chart-tick{strong}", x=x, y=y, text_anchor="middle")

    def along(self, spot: Spot, number: int) -> float:
        """The horizontal position of a spot, as a share of the width: series are placed side by side."""
        aside = (number - (len(self.series) - 1) / 2) * _APART if self.places else 0.0
        return self.across.place(spot.x + aside)

    def _marks(self, series: Series, number: int) -> Iterator[Markup]:
        """The marks with their intervals; on a map, dots on one path, since there may be thousands."""
        if self.is_map:
            corners = ((self.along(spot, number) * STRETCHED, self.height(spot.y)) for spot in series.spots)
            path = "".join(f"M{pixels(x)} {pixels(y)}h0" for x, y in corners)
            dots = f"chart-dots{' chart-squares' * (number % 2)} chart-stroke-{series.tone.colour}"
            yield stretched(tag("path", class_=dots, d=path, vector_effect="non-scaling-stroke"))
            return
        for spot in series.spots if series.has_marks else ():
            x, y = place(self.along(spot, number)), pixels(self.height(spot.y))
            words = f"{isolated(series.name)}, {isolated(self._name(spot))}: {self.y.written(spot.y)}"
            lines = (
                tag("line", class_=f"chart-error chart-stroke-{series.tone.colour}", **line)
                for line in self._errors(spot, x, y)
            )
            yield tag("g", tag("title", words), *lines, mark(self.id, number, series.tone, x, y))

    def _errors(self, spot: Spot, x: str, y: str) -> Iterator[dict[str, str]]:
        if spot.up is not None:
            low, high = (pixels(self.height(each)) for each in (spot.up.low, spot.up.high))
            yield {"x1": x, "x2": x, "y1": low, "y2": high}
        if spot.across is not None:
            left, right = (place(self.across.place(each)) for each in (spot.across.low, spot.across.high))
            yield {"x1": left, "x2": right, "y1": y, "y2": y}

    def _labels(self) -> Iterator[Markup]:
        """Names beside spots, or numbers above and below them, where they overlap nothing."""
        taken = [level.box_in(self._room) for level in self.levels]
        taken += [self._around(spot, number) for number, series in enumerate(self.series) for spot in series.spots]
        if self.is_map or not self._has_marks or (self.places and len(self.series) > _NUMBERED):
            return
        for number, series in enumerate(self.series):
            for spot in series.spots:
                text = self.y.written(spot.y) if self.places else cut(spot.name, _LONGEST)
                free = (
                    box
                    for box in self._boxes(spot, number, text)
                    if box.left >= 0 and box.right <= self._room + 12 and box.top >= 0 and box.bottom <= HEIGHT
                    if not any(box.overlaps(other) for other in taken)
                )
                box = next(free, None)
                if text and box is not None:
                    taken.append(box)
                    # The middle stays beside the spot at any width of the plot.
                    aside = (box.left + box.right) / 2 - self.along(spot, number) * self._room
                    x, y = place(self.along(spot, number)), pixels(box.bottom - 3)
                    yield tag("text", text, class_="chart-label", x=x, dx=pixels(aside), y=y, text_anchor="middle")

    def _around(self, spot: Spot, number: int) -> Box:
        """The box of a spot and its vertical interval."""
        x, ends = self.along(spot, number) * self._room, [self.height(end) for end in ends_of(spot.y, spot.up)]
        return Box(x - 5, x + 5, min(ends) - 5, max(ends) + 5)

    def _boxes(self, spot: Spot, number: int, text: str) -> Iterator[Box]:
        """The possible boxes of a spot's text: above and below it, or to its right and left."""
        around, half = self._around(spot, number), text_width(text) / 2 + 1
        x, y = self.along(spot, number) * self._room, self.height(spot.y)
        above = Box(x - half, x + half, around.top - 16, around.top)
        below = Box(x - half, x + half, around.bottom, around.bottom + 16)
        if self.places:
            yield from (above, below) if number == 0 else (below, above)
            return
        for lift in (-12, 2):
            yield Box(x + 8, x + 8 + 2 * half, y + lift - 6, y + lift + 10)
            yield Box(x - 8 - 2 * half, x - 8, y + lift - 6, y + lift + 10)
        yield from (above, below)


def _track(series: Series, number: int, path: str) -> Markup:
    shape = "chart-faint" if series.is_faint else "chart-track"
    return tag(
        "path",
        class_=f"{shape} chart-stroke-{series.tone.colour}",
        d=path,
        vector_effect="non-scaling-stroke",
        stroke_dasharray=None if series.is_faint else DASHES[number % len(DASHES)],
    )


def _lines(name: str, room: float) -> list[str]:
    """The name in lines that fit beside the other names, broken between words if possible."""
    lines: list[str] = []
    for part in name.split("\n"):
        words = cut(part, _LONGEST).split(" ")
        line = words[0]
        for word in words[1:]:
            if text_width(f"{line} {word}") > room:
                lines.append(line)
                line = word
            else:
                line = f"{line} {word}"
        lines.append(line)
    return [_fitted(line, room) for line in lines]


def _fitted(line: str, room: float) -> str:
    """The line, cut if it is a long word."""
    while text_width(line) > room and len(line) > 2:  # noqa: PLR2004 - a letter and the ellipsis
        line = cut(line, len(line) - 1)
    return line
