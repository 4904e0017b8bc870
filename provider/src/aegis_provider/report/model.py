"""What a report consists of, and how it is rendered as text; as a page `report.page` renders it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from aegis_sdk.cli.terminal import aligned


@dataclass(frozen=True)
class TextTable:
    """Rows under a header; numbers stand to the right."""

    header: Sequence[str]
    rows: Sequence[Sequence[str | float]]
    caption: str = ""


class Term(NamedTuple):
    """A word or a number, and what it means for someone who decides by it and does not compute it."""

    word: str
    meaning: str


@dataclass(frozen=True)
class Terms:
    """What each of some words or numbers means."""

    pairs: Sequence[Term]


@dataclass(frozen=True)
class Plot:
    """What `figure_svg` returned, and the sentence below it."""

    svg: str
    caption: str


Part: TypeAlias = str | TextTable | Terms | Plot
"""A part of a section; a text is a paragraph, or a line of text."""


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it."""

    heading: str
    parts: Sequence[Part]


def text_lines(sections: Iterable[Section]) -> Iterator[str]:
    """Lines of text: an empty one between sections, the heading of each, if it has one, and its parts.

    Plots are left out.
    """
    for place, section in enumerate(sections):
        if place:
            yield ""
        if section.heading:
            yield section.heading
        for part in section.parts:
            yield from _part_lines(part)


def _part_lines(part: Part) -> Iterator[str]:
    match part:
        case str():
            yield part
        case TextTable():
            yield from aligned(part.header, part.rows)
            if part.caption:
                yield part.caption
        case Terms():
            yield from (f"{term}: {meaning}" for term, meaning in part.pairs)
        case Plot():
            pass
