"""Names beside points, as far as they fit on a phone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.console.charts.numbers import pixels, place
from app.console.charts.scale import NARROWEST
from app.console.charts.text import cut

LONGEST: Final = 18
_CHARACTER: Final = 6.6
_LINE: Final = 14.0
_RISE: Final = 7.0
_BESIDE: Final = 7.0
_BEYOND: Final = 12.0
"""How far a text may reach beyond the plot."""
_Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Label:
    """A name: its text, its place, and whether it ends there (`end`) or starts there (`start`)."""

    text: str
    x: str
    y: str
    anchor: str
    is_first: bool = False


def labels_of(
    points: Sequence[tuple[str, int, float, float]], levels: Sequence[tuple[str, float]], *, forced: int = 0
) -> list[Label]:
    """The labels that overlap no earlier one.

    Args:
        points: The name, how many more have the same place, the share of the width, and the pixels from the top;
            in order of importance.
        levels: The texts at the right end of lines across the plot, and their pixels from the top.
        forced: So many of the first points have a label in any case.
    """
    taken = [_box(text, 1.0, height, "end") for text, height in levels]
    labels: list[Label] = []
    for number, (name, more, along, height) in enumerate(points):
        text = cut(name, LONGEST) + (f" +{more:,}" if more else "")
        anchor = "start" if along * NARROWEST + _BESIDE + len(text) * _CHARACTER <= NARROWEST + _BEYOND else "end"
        box = _box(text, along, height, anchor)
        if number < forced or (box[0] >= -_BEYOND and not any(_overlap(box, other) for other in taken)):
            taken.append(box)
            labels.append(Label(text, place(along), pixels(height - _RISE), anchor, is_first=number < forced))
    return labels


def _box(text: str, along: float, height: float, anchor: str) -> _Box:
    """Left, right, top and bottom of a text, in pixels."""
    width, x = len(text) * _CHARACTER, along * NARROWEST
    left = x + _BESIDE if anchor == "start" else x - width - _BESIDE
    return left, left + width, height - _RISE - _LINE, height - _RISE + 2


def _overlap(one: _Box, other: _Box) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]
