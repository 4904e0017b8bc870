"""The selection of points to draw, and their frontier."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from aegis_sdk.charts.plot import Axis, Interval, Scale, drawable

MOST_MARKS: Final = 300
MOST_ON_FRONTIER: Final = 120
_MOST_ALIKE: Final = 60
Place = tuple[float, float]
"""The coordinates of a point."""
_COLUMNS: Final = 24
_ROWS: Final = 16
"""Grid for other points, of which one in each cell is drawn."""


@dataclass(frozen=True)
class Point:
    """A configuration with its two values, and the limits of `y`.

    Attributes:
        is_alike: whether it is indistinguishable from the best.
        expected: what a model should reach on it, in words; empty if not known.
    """

    name: str
    x: float
    y: float
    interval: Interval | None = None
    is_best: bool = False
    is_alike: bool = False
    href: str | None = None
    expected: str = ""

    @property
    def is_drawable(self) -> bool:
        """Whether it fits in a plot."""
        return drawable(self.x) and drawable(self.y) and (self.interval is None or self.interval.is_drawable)


@dataclass(frozen=True)
class Mark:
    """All points at one position, by rank; `on_frontier`: none is better in one coordinate and as good in the other."""

    points: tuple[Point, ...]
    on_frontier: bool

    @property
    def first(self) -> Point:
        """The best point, or else the first."""
        return next((point for point in self.points if point.is_best), self.points[0])

    @property
    def is_alike(self) -> bool:
        """Whether one of them is indistinguishable from the best."""
        return any(point.is_alike for point in self.points)


@dataclass(frozen=True)
class Chosen:
    """The marks to draw.

    Attributes:
        marks: The marks, those on the frontier last and the best one last of all.
        steps: All positions on the frontier, from the worse to the better end of the axis to the right.
        left_out: The number of points omitted because there are too many.
        unplaced: The number of points that do not fit in a plot.
    """

    marks: tuple[Mark, ...]
    steps: tuple[tuple[float, float], ...]
    left_out: int
    unplaced: int


def frontier_of(places: Iterable[Place], x: Axis, y: Axis) -> list[Place]:
    """The undominated positions, from the worse to the better end of the axis to the right."""
    right, up = (1 if axis.higher_is_better else -1 for axis in (x, y))
    edge: list[Place] = []
    for place in sorted(places, key=lambda each: (-right * each[0], -up * each[1])):
        if not edge or up * place[1] > up * edge[-1][1]:
            edge.append(place)
    return edge[::-1]


def chosen_of(points: Sequence[Point], x: Axis, y: Axis) -> Chosen:
    """The marks to draw: the frontier, the best, indistinguishable ones if there is room, and others spread evenly.

    The points come with the best ranked first.
    """
    by_place: dict[Place, list[Point]] = {}
    for point in points:
        if point.is_drawable:
            by_place.setdefault((point.x, point.y), []).append(point)
    steps = frontier_of(by_place, x, y)
    edge = frozenset(steps)
    marks = [Mark(tuple(by_place[place]), place in edge) for place in _thinned(by_place, steps)]
    marks.sort(key=lambda each: (each.first.is_best, each.on_frontier, x.gain(each.first.x)))
    placed = sum(map(len, by_place.values()))
    shown = sum(len(each.points) for each in marks)
    return Chosen(tuple(marks), tuple(steps), placed - shown, len(points) - placed)


def _thinned(by_place: Mapping[Place, Sequence[Point]], steps: Sequence[Place]) -> Iterable[Place]:
    """At most `MOST_MARKS` of the positions."""
    if len(by_place) <= MOST_MARKS:
        return by_place
    best = [place for place, points in by_place.items() if any(each.is_best for each in points)][:1]
    kept = dict.fromkeys([*best, *_evenly(steps, MOST_ON_FRONTIER)])
    beaten = by_place.keys() - frozenset(steps)
    rest = [place for place in by_place if place in beaten and place not in kept]
    alike = [place for place in rest if any(each.is_alike for each in by_place[place])]
    kept |= dict.fromkeys(_evenly(alike, _MOST_ALIKE))
    others = [place for place in _one_in_each_cell(rest) if place not in kept]
    return [*kept, *_evenly(others, MOST_MARKS - len(kept))]


def _evenly(places: Sequence[Place], most: int) -> Sequence[Place]:
    """A selection of at most `most`, including both ends."""
    if len(places) <= most:
        return places
    last = len(places) - 1
    return [places[round(number * last / (most - 1))] for number in range(most)]


def _one_in_each_cell(places: Sequence[Place]) -> list[Place]:
    """The first in each cell of a grid over the plot, which preserves its outline."""
    across, up = (Scale.over(spot[axis] for spot in places) for axis in (0, 1))
    cells: dict[tuple[int, int], Place] = {}
    for place in places:
        cell = (round(across.place(place[0]) * _COLUMNS), round(up.place(place[1]) * _ROWS))
        cells.setdefault(cell, place)
    return list(cells.values())
