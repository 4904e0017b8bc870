"""The parts of a report. `report.text` and `report.page` render any report, whatever it is about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

# Colours that remain distinct to the colour-blind and in grey.
BAD, GOOD, OTHER, NEUTRAL = "#d55e00", "#0072b2", "#56b4e9", "#b8b8b8"

#: The shares that every configuration is between.
BASELINES: Final = MappingProxyType({"the table\nas it is": 1.0, "nothing\nshared": 0.0})


@dataclass(frozen=True)
class TextTable:
    """Rows under a header; numbers are right-aligned.

    Attributes:
        header: The names of the columns.
        rows: The rows, with one cell for each column.
        caption: What else readers should know about it.
        wide: How many of the last columns only a page has room for.
        most: How many rows a terminal has room for; by default all.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str | float]]
    caption: str = ""
    wide: int = 0
    most: int | None = None


class Term(NamedTuple):
    """A word or a number, and what it means to someone who decides by it but does not compute it."""

    word: str
    meaning: str


@dataclass(frozen=True)
class Terms:
    """Explanations of words or numbers, at a length that only a page has room for."""

    pairs: Sequence[Term]


@dataclass(frozen=True)
class Plot:
    """What `figure_svg` returned, and the sentence below it."""

    svg: str
    caption: str


@dataclass(frozen=True)
class Bars:
    """Groups of bars, from the top down.

    Attributes:
        groups: Their names.
        series: (groups,) the lengths of each series, by its name and colour.
        axis: What the lengths are.
        caption: The sentence below it.
        stacked: Whether the bars of a group are stacked into one that is as long as the axis.
        shares: Whether lengths are shares, shown in percent, and not counts, shown on a logarithmic scale.
    """

    groups: Sequence[str]
    series: Mapping[tuple[str, str], Sequence[float]]
    axis: str
    caption: str
    stacked: bool = False
    shares: bool = True


@dataclass(frozen=True)
class Curve:
    """(points,) heights of a line. If several curves have one name, the legend shows the first."""

    name: str
    colour: str
    heights: Sequence[float]
    width: float = 2.0


@dataclass(frozen=True)
class Curves:
    """Shares as lines over (points,) numbers.

    Attributes:
        numbers: From left to right.
        curves: The lines; later ones are drawn over earlier ones.
        axes: What the numbers and the shares are.
        caption: The sentence below it.
    """

    numbers: Sequence[float]
    curves: Sequence[Curve]
    axes: tuple[str, str]
    caption: str


@dataclass(frozen=True)
class Measured:
    """A number, and the limits of its interval if there is one."""

    value: float
    limits: tuple[float, float] | None = None


@dataclass(frozen=True)
class Series:
    """(places,) numbers of one kind; `None` where there is none.

    Attributes:
        name: What the legend calls them.
        colour: Their colour.
        numbers: From left to right.
        joined: Whether a line joins them.
    """

    name: str
    colour: str
    numbers: Sequence[Measured | None]
    joined: bool = False


@dataclass(frozen=True)
class Levels:
    """Shares at several places, compared with levels that are the same everywhere.

    Attributes:
        places: The names of the places, from left to right.
        series: The shares at each place.
        levels: The shares to compare with, by name; each is drawn as a line from side to side.
        axes: What the places and the shares are.
        caption: The sentence below it.
        marked: The place that was chosen, and what to call it.
    """

    places: Sequence[str]
    series: Sequence[Series]
    levels: Mapping[str, float]
    axes: tuple[str, str]
    caption: str
    marked: tuple[int, str] | None = None


@dataclass(frozen=True)
class Points:
    """Points in two dimensions that have no unit, only near and far.

    Attributes:
        series: (points, 2) The points of each kind, by its name and colour; later ones are drawn over earlier ones.
        caption: The sentence below it.
    """

    series: Mapping[tuple[str, str], Sequence[tuple[float, float]]]
    caption: str


class ScatterPoint(NamedTuple):
    """A point with its name, the kind and colour of it, and how far across and up it is."""

    name: str
    kind: str
    colour: str
    across: Measured
    up: Measured


@dataclass(frozen=True)
class Scatter:
    """Named points between two numbers, of which the upward one is a share.

    Attributes:
        points: The points.
        axes: What is across, and what is up.
        across: Numbers to compare those across with, by name; each is drawn as a line upwards.
        levels: Shares to compare with, by name; each is drawn as a line from side to side.
        caption: The sentence below it.
    """

    points: Sequence[ScatterPoint]
    axes: tuple[str, str]
    across: Mapping[str, float]
    levels: Mapping[str, float]
    caption: str


Figure: TypeAlias = Plot | Bars | Curves | Levels | Points | Scatter
"""A picture, which only a page has room for."""

Part: TypeAlias = str | TextTable | Terms | Figure
"""A part of a section; a string is a paragraph of a page, or a line of text."""


@dataclass(frozen=True)
class Section:
    """A heading and the parts below it."""

    heading: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class Report:
    """A title, a summary and the sections."""

    title: str
    summary: Sequence[str]
    sections: Sequence[Section]
