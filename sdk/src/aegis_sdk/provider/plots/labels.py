"""Labels beside points, none over another."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox

# Where a label may stand, in points from its point: above to the right, where a frontier has nothing, before all else.
_PLACES = ((7, 5, "left", "bottom"), (8, 0, "left", "center"), (0, 9, "center", "bottom"))
_ROOM = 5


@dataclass(frozen=True)
class PointLabel:
    """A text for the point (x, y) in data coordinates."""

    x: float
    y: float
    text: str
    colour: str
    bold: bool = False


def label_points(
    figure: Figure, axes: Axes, labels: Sequence[PointLabel], points: Sequence[tuple[float, float]]
) -> int:
    """
    Writes the labels that fit, the first ones before others; returns how many.

    A label that would lie over another one, over one of the points (data coordinates) or outside the axes is left out.
    """
    figure.draw_without_rendering()  # lays the figure out, so that pixels are known
    taken = [_around(*place) for place in axes.transData.transform(list(points))]
    return sum(_written(axes, label, taken) for label in labels)


def _around(x: float, y: float) -> Bbox:
    return Bbox.from_extents(x - _ROOM, y - _ROOM, x + _ROOM, y + _ROOM)


def _written(axes: Axes, label: PointLabel, taken: list[Bbox]) -> bool:
    room = axes.get_window_extent()
    for right, up, horizontal, vertical in _PLACES:
        text = _annotation(axes, label, (right, up), horizontal, vertical)
        box = text.get_window_extent()
        inside = room.x0 <= box.x0 and box.x1 <= room.x1 + _ROOM and room.y0 <= box.y0 and box.y1 <= room.y1 + _ROOM
        if inside and not any(box.overlaps(other) for other in taken):
            taken.append(box)
            return True
        text.remove()
    return False


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
