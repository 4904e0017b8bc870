"""Labels beside points and ticks at numbers: as many as fit without overlap."""

from bisect import bisect, insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator
from matplotlib.transforms import Bbox

# Places of a label: offsets from its point, in typographic points. Above to the right comes first: a frontier has
# nothing there.
_PLACES = ((7, 5, "left", "bottom"), (8, 0, "left", "center"), (0, 9, "center", "bottom"))
# The space around a point and around a line, in pixels.
_ROOM = 5
_PEN = 2
# The width of a digit and the gap between two numbers, in pixels at the resolution of the figure.
_DIGIT = 8.0
_BETWEEN = 9.0


@dataclass(frozen=True)
class PointLabel:
    """A text for the point (x, y) in data coordinates."""

    x: float
    y: float
    text: str
    colour: str
    bold: bool = False


def label_points(
    figure: Figure,
    axes: Axes,
    labels: Sequence[PointLabel],
    points: Sequence[tuple[float, float]],
    upright: Sequence[tuple[float, float, float]] = (),
) -> None:
    """Write the labels that fit, the first ones before others.

    `points`: the corners of a line that falls in steps to the right, in data coordinates. `upright`: the x, the lower
    and the upper end of upright lines. A label that would lie over another one, over a line or outside the axes is left
    out.
    """
    figure.draw_without_rendering()  # lays the figure out, so that pixels are known
    corners = [(float(x), float(y)) for x, y in axes.transData.transform(list(points))]
    taken = [_around(*corner, *corner) for corner in corners]
    for (x, y), (next_x, next_y) in pairwise(corners):
        taken += [_around(x, next_y, x, y, _PEN), _around(x, next_y, next_x, next_y, _PEN)]
    for x, lower, upper in upright:
        [(place, foot), (_, head)] = axes.transData.transform([(x, lower), (x, upper)])
        taken.append(_around(place, foot, place, head, _PEN))
    for label in labels:
        box = _written(axes, label, taken)
        if box is not None:
            taken.append(box)


def _around(left: float, lower: float, right: float, upper: float, room: float = _ROOM) -> Bbox:
    return Bbox.from_extents(left - room, lower - room, right + room, upper + room)


def _written(axes: Axes, label: PointLabel, taken: Sequence[Bbox]) -> Bbox | None:
    room = axes.get_window_extent()
    for right, up, horizontal, vertical in _PLACES:
        text = _annotation(axes, label, (right, up), horizontal, vertical)
        box = text.get_window_extent()
        inside = room.x0 <= box.x0 and box.x1 <= room.x1 + _ROOM and room.y0 <= box.y0 and box.y1 <= room.y1 + _ROOM
        if inside and not any(box.overlaps(other) for other in taken):
            return box
        text.remove()
    return None


def _annotation(axes: Axes, label: PointLabel, offset: tuple[int, int], horizontal: str, vertical: str) -> Annotation:
    text = axes.annotate(
        label.text,
        (label.x, label.y),
        offset,
        textcoords="offset points",
        ha=horizontal,
        va=vertical,
        fontsize=10,
        color=label.colour,
        fontweight="bold" if label.bold else "normal",
        zorder=5,
    )
    text.set_in_layout(False)
    return text


def tick_numbers(figure: Figure, axes: Axes, numbers: Sequence[float], first: Iterable[float]) -> None:
    """Put the ticks of the x axis at these numbers: at the ends, then at the `first` of them, then at others that fit.

    A tick whose number would overlap an earlier one is left out.
    """
    figure.draw_without_rendering()  # lays the figure out, so that pixels are known
    ends = [min(numbers), max(numbers)]
    wanted = list(dict.fromkeys([*ends, *first, *sorted(numbers)]))
    places = axes.transData.transform([(number, axes.get_ylim()[0]) for number in wanted])[:, 0]
    chosen = sorted(_that_fit(wanted, places.tolist()))
    axes.xaxis.set_major_locator(FixedLocator(chosen))
    axes.xaxis.set_major_formatter(FixedFormatter([_number(number) for number in chosen]))
    axes.xaxis.set_minor_locator(NullLocator())


def _number(number: float) -> str:
    return f"{number:.10g}"


def _that_fit(numbers: Sequence[float], places: Sequence[float]) -> Iterator[float]:
    """Yield the numbers that fit. `numbers` come in order of priority, `places` are where they stand, in pixels."""
    taken: list[tuple[float, float]] = []
    for number, place in zip(numbers, places, strict=True):
        half = (len(_number(number)) * _DIGIT + _BETWEEN) / 2
        span = (place - half, place + half)
        after = bisect(taken, span)
        free_before = after == 0 or taken[after - 1][1] <= span[0]
        if free_before and (after == len(taken) or span[1] <= taken[after][0]):
            insort(taken, span)
            yield number
