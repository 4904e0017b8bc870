"""The page: sections, each with its Markdown, plots, detail tables and results."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, cast

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from research.losses import Estimate

FOLDER = "evaluation"
"""The folder beside most pages that contains their plots and detail tables."""

#: Makes equal plots equal files: ids from a fixed salt, letters as paths of the font that comes with the library.
REPRODUCIBLE: Any = {"svg.hashsalt": "aegis", "svg.fonttype": "path"}
NO_METADATA = {"Date": None, "Creator": None}


MOST_ROWS = 8
"""The most rows of a table on the page; longer tables are files beside it."""

_TABLE = re.compile(r"(?:^\|.*\n){3,}", re.MULTILINE)
_NUMBER = re.compile(r"[*-]*\d")
"""The beginning of a cell that contains a number, bold or not."""


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Attributes:
        title: the heading, without marks.
        markdown: the text below the heading; plots are shown with `image`.
        figures: the plots by file name (without folder, ending in .svg).
        findings: sentences for the head of the page, each with its figures.
        shown: Markdown below those sentences, such as a plot of the section; may be empty.
        details: tables too long for the page, by file name (without folder, ending in .csv), header row first.
    """

    title: str
    markdown: str
    figures: Mapping[str, Figure] = field(default_factory=dict)
    findings: Sequence[str] = ()
    shown: str = ""
    details: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)


def write(output: Path, head: str, sections: Sequence[Section], beside: str = FOLDER) -> None:
    """Write the page, and write its plots and detail tables into the folder beside it that has this name."""
    folder = output.parent / beside
    folder.mkdir(parents=True, exist_ok=True)
    for section in sections:
        for name, figure in section.figures.items():
            with rc_context(REPRODUCIBLE):
                figure.savefig(folder / name, format="svg", metadata=NO_METADATA)
        for name, rows in section.details.items():
            _write_rows(folder / name, rows)
    text = "\n\n".join(_parts(head, sections)) + "\n"
    output.write_text(shortened(output, text, beside), encoding="utf-8")


def _parts(head: str, sections: Sequence[Section]) -> Iterator[str]:
    yield head.strip()
    yield "## Results"
    yield "\n".join(f"* {sentence}" for section in sections for sentence in section.findings)
    yield from (section.shown for section in sections if section.shown)
    for section in sections:
        yield f"## {section.title}"
        yield section.markdown.strip()


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table with text columns flush left and number columns flush right."""
    rule = ["---:" if any(_NUMBER.match(row[place]) for row in rows) else "---" for place in range(len(columns))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (columns, rule, *rows))


def shortened(page: Path, text: str, beside: str = FOLDER) -> str:
    """Write the tables of a page that have more than `MOST_ROWS` rows into files beside it, and link them instead."""
    folder = page.parent / beside
    numbers = count(1)

    def moved(found: re.Match[str]) -> str:
        header, _, *rows = (line.strip("| ").split(" | ") for line in found[0].strip().splitlines())
        if len(rows) <= MOST_ROWS:
            return found[0]
        name = f"{page.stem}-{next(numbers)}.csv"
        _write_rows(folder / name, [header, *rows])
        return link(name, f"A table of {len(rows)} rows", beside) + "\n"

    folder.mkdir(parents=True, exist_ok=True)
    return _TABLE.sub(moved, text)


def _write_rows(place: Path, rows: Iterable[Sequence[str]]) -> None:
    with place.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def image(name: str, alt: str, beside: str = FOLDER) -> str:
    """Return the Markdown that shows a plot of the section; `alt` describes it."""
    return f"![{alt}]({beside}/{name})"


def link(name: str, words: str, beside: str = FOLDER) -> str:
    """Return the Markdown that links to a detail table of the section."""
    return f"[{words}]({beside}/{name})"


def figure_of(value: float | np.floating[Any], digits: int = 4) -> str:
    """Format a number as the page shows it, without a negative zero."""
    rounded = round(cast("float", value), digits)  # by NumPy's rule if the number is of an array
    return f"{rounded + 0.0:.{digits}f}"


def with_interval(estimate: Estimate, digits: int = 4) -> str:
    """Format a mean and the half-width of its interval."""
    return f"{figure_of(estimate.mean, digits)} ± {figure_of(estimate.half_width, digits)}"
