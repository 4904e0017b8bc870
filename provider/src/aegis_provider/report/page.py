"""A page of sections in plain HTML: no script, nothing loaded, and every text escaped."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup


@dataclass(frozen=True)
class TextTable:
    """Rows under a header; numbers stand to the right, fractions with at most four significant digits."""

    header: Sequence[str]
    rows: Sequence[Sequence[str | float]]
    caption: str = ""


@dataclass(frozen=True)
class Terms:
    """What each of some words or numbers means: pairs of a term and its explanation."""

    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Plot:
    """What `figure_svg` returned, and the sentence below it."""

    svg: str
    caption: str


Part: TypeAlias = str | TextTable | Terms | Plot
"""A part of a section; a text is a paragraph."""


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it."""

    heading: str
    parts: Sequence[Part]


def render_page(title: str, sections: Sequence[Section]) -> str:
    """The page as one self-contained HTML document in UTF-8."""
    folder = FileSystemLoader(Path(__file__).parent)
    environment = Environment(loader=folder, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters["cell"] = _cell
    environment.tests |= {
        "number": lambda cell: not isinstance(cell, str),
        "table": lambda part: isinstance(part, TextTable),
        "terms": lambda part: isinstance(part, Terms),
        "plot": lambda part: isinstance(part, Plot),
    }
    environment.filters["as_svg"] = _as_svg
    return environment.get_template("page.html.jinja").render(title=title, sections=sections)


def _as_svg(plot: Plot) -> Markup:
    # The one text that is not escaped: matplotlib escapes what it writes.
    return Markup(plot.svg)  # noqa: S704 - see above


def _cell(cell: str | float) -> str:
    if isinstance(cell, str):
        return cell
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:.4g}"
