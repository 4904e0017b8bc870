"""The page: sections, each with its Markdown and its plots."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from matplotlib.figure import Figure


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Attributes:
        title: its heading, without marks.
        markdown: what stands below the heading; plots are shown with `image`.
        figures: the plots by file name (without folder, ending in .svg).
    """

    title: str
    markdown: str
    figures: Mapping[str, Figure] = field(default_factory=dict)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, its first column flush left and the others flush right."""
    rule = ["---", *("---:" for _ in columns[1:])]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (columns, rule, *rows))


def image(name: str, alt: str) -> str:
    """The Markdown that shows a plot of the section; `alt` says what is to be seen."""
    return f"![{alt}](evaluation/{name})"
