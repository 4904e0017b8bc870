"""Which points of many a chart draws, and which of them no other beats."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from app.console.charts.axis import Axis, Interval
from app.console.charts.numbers import drawable
from app.console.charts.scale import Scale

MOST_MARKS: Final = 300
MOST_ON_FRONTIER: Final = 100
_MOST_ALIKE: Final = 100
_COLUMNS: Final = 24
_ROWS: Final = 16
"""Of other points, one is drawn in each cell of a grid."""


@dataclass(frozen=True)
class Point:
    """A configuration.

    Attributes:
        name: Its id.
        x: Its number on the axis to the right.
        y: Its number on the upward axis.
        interval: The limits of `y`.
        is_best: Whether it is the best of the ranking.
        is_alike: Whether it cannot be told apart from the best.
        href: Where it leads.
    """

    name: str
    x: float
    y: float
    interval: Interval | None = None
    is_best: bool = False
    is_alike: bool = False
    href: str | None = None

    @property
    def is_drawable(self) -> bool:
        """Whether it has a place in a plot."""
        limits = (self.interval.low, self.interval.high) if self.interval else ()
        return drawable(self.x, self.y, *limits)


@dataclass(frozen=True)
class Mark:
    """All points at one place.

    Attributes:
        points: The points, the best ranked first; one at least.
        on_frontier: Whether no point is better in one number and as good in the other.
    """

    points: tuple[Point, ...]
    on_frontier: bool

    @property
    def first(self) -> Point:
        """The best of them, or else the first."""
        return next((each for each in self.points if each.is_best), self.points[0])

    @property
    def is_alike(self) -> bool:
        """Whether one of them cannot be told apart from the best."""
        return any(each.is_alike for each in self.points)


@dataclass(frozen=True)
class Chosen:
    """The marks that are drawn.

    Attributes:
        marks: The marks, those on the frontier last and the best one last of all.
        steps: All places on the frontier, from the worse to the better end of the axis to the right.
        left_out: How many points are not drawn, since there are too many.
        unplaced: How many have no place in a plot.
    """

    marks: tuple[Mark, ...]
    steps: tuple[tuple[float, float], ...]
    left_out: int
    unplaced: int


def frontier_of(places: Iterable[tuple[float, float]], x: Axis, y: Axis) -> list[tuple[float, float]]:
    """The places that no other beats, from the worse to the better end of the axis to the right."""
    best_first = sorted(places, key=lambda each: (-x.gain(each[0]), -y.gain(each[1])))
    edge: list[tuple[float, float]] = []
    for place in best_first:
        if not edge or y.gain(place[1]) > y.gain(edge[-1][1]):
            edge.append(place)
    return edge[::-1]


def chosen_of(points: Sequence[Point], x: Axis, y: Axis) -> Chosen:
    """The marks to draw: the frontier and the best, those alike as far as there is room, and others spread evenly.

    Args:
        points: The points, the best ranked first.
        x: The axis to the right.
        y: The upward axis.
    """
    by_place: dict[tuple[float, float], list[Point]] = {}
    for point in points:
        if point.is_drawable:
            by_place.setdefault((point.x, point.y), []).append(point)
    steps = frontier_of(by_place, x, y)
    edge = set(steps)
    marks = [Mark(tuple(group), place in edge) for place, group in by_place.items()]
    drawn = sorted(_thinned(marks), key=lambda each: (each.first.is_best, each.on_frontier, x.gain(each.first.x)))
    shown, placed = (sum(len(each.points) for each in some) for some in (drawn, marks))
    return Chosen(tuple(drawn), tuple(steps), placed - shown, len(points) - placed)


def _thinned(marks: Sequence[Mark]) -> list[Mark]:
    """At most `MOST_MARKS` of them."""
    if len(marks) <= MOST_MARKS:
        return list(marks)
    best = [each for each in marks if each.first.is_best][:1]
    edge = sorted((each for each in marks if each.on_frontier and each not in best), key=lambda each: each.first.x)
    rest = [each for each in marks if not each.on_frontier and not each.first.is_best]
    alike = _evenly([each for each in rest if each.is_alike], _MOST_ALIKE)
    kept = [*best, *_evenly(edge, MOST_ON_FRONTIER), *alike]
    others = _one_in_each_cell([each for each in rest if not each.is_alike])
    return [*kept, *_evenly(others, MOST_MARKS - len(kept))]


def _evenly(marks: Sequence[Mark], most: int) -> list[Mark]:
    """So many of them at most, both ends included."""
    if len(marks) <= most:
        return list(marks)
    last = len(marks) - 1
    return [marks[round(number * last / (most - 1))] for number in range(most)]


def _one_in_each_cell(marks: Sequence[Mark]) -> list[Mark]:
    """The first in each cell of a grid over the plot, so that its outline stays."""
    across, up = Scale.over(each.first.x for each in marks), Scale.over(each.first.y for each in marks)
    cells: dict[tuple[int, int], Mark] = {}
    for mark in marks:
        cell = (round(across.place(mark.first.x) * _COLUMNS), round(up.place(mark.first.y) * _ROWS))
        cells.setdefault(cell, mark)
    return list(cells.values())
