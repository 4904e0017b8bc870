"""Names beside points, as far as they fit on a phone, and approximate widths of texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from unicodedata import combining, east_asian_width

from aegis_sdk.charts.axis import NARROWEST
from aegis_sdk.charts.markup import cut, pixels, place

LONGEST: Final = 18
_LINE: Final = 14.0
_RISE: Final = 7.0
_BESIDE: Final = 7.0
_BEYOND: Final = 12.0
"""The distance that a text may extend beyond the plot."""


def text_width(text: str, size: float = 12.0) -> float:
    """Approximate width of a text in pixels, rather too large than too small: there is no font to measure."""
    wide = sum(
        0 if combining(character) else 1.0 if east_asian_width(character) in "WFA" else 0.56 for character in text
    )
    return wide * size


@dataclass(frozen=True)
class Box:
    """A rectangle in pixels of the narrowest plot."""

    left: float
    right: float
    top: float
    bottom: float

    def overlaps(self, other: "Box") -> bool:
        """Whether the two have more than an edge in common."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


@dataclass(frozen=True)
class Named:
    """A point that may have its name beside it.

    Attributes:
        more: The number of further points at the same position.
        along: Its horizontal position, as a share of the width.
        height: Pixels from the top.
        top: Pixels from the top to the upper end of its interval.
        is_first: Whether its name is always shown.
    """

    name: str
    more: int
    along: float
    height: float
    top: float
    is_first: bool = False

    @property
    def text(self) -> str:
        """The text beside it."""
        return cut(self.name, LONGEST) + (f" and {self.more:,} more" if self.more else "")


@dataclass(frozen=True)
class Level:
    """A line across the plot: its name, its distance from the top in pixels, and whether the name is at the right
    end.
    """

    text: str
    height: float
    at_end: bool = True

    @property
    def at(self) -> str:
        """Pixels from the top, as text."""
        return pixels(self.height)

    def box_in(self, room: float = NARROWEST) -> Box:
        """The box of its name in a plot of this width in pixels."""
        width = text_width(self.text)
        left = room - width if self.at_end else 0.0
        return Box(left, left + width, self.height - _RISE - _LINE, self.height)


@dataclass(frozen=True)
class Label:
    """A name beside a point.

    Attributes:
        number: The index of the point.
        x: The horizontal position of the point.
        dx: The horizontal distance from there to the text, in pixels.
        y: Its baseline.
        anchor: `start` or `end`.
        is_first: Whether it belongs to the best configuration.
    """

    number: int
    text: str
    x: str
    dx: str
    y: str
    anchor: str
    is_first: bool = False


def labels_of(points: Sequence[Named], taken: Sequence[Box]) -> list[Label]:
    """The labels that overlap neither each other nor the taken boxes. Points come in order of importance."""
    boxes, labels = list(taken), []
    for number, point in enumerate(points):
        label, box = _beside(number, point)
        if point.is_first or (box.left >= -_BEYOND and not any(box.overlaps(other) for other in boxes)):
            boxes.append(box)
            labels.append(label)
    return labels


def _beside(number: int, point: Named) -> tuple[Label, Box]:
    """The name at the right of a point, or above its interval if there is no room at the right."""
    width, x = text_width(point.text), point.along * NARROWEST
    starts = x + _BESIDE + width <= NARROWEST + _BEYOND
    shift, y = (_BESIDE, point.height - _RISE) if starts else (_BEYOND, min(point.top - 2, point.height - _RISE))
    anchor, left = ("start", x + shift) if starts else ("end", x + shift - width)
    label = Label(number, point.text, place(point.along), pixels(shift), pixels(y), anchor, point.is_first)
    return label, Box(left, left + width, y - _LINE, y + 2)
