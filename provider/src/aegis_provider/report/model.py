"""The parts of a report. `report.text` and `report.page` render any report."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from aegis_sdk.reading import Share, number

if TYPE_CHECKING:
    from aegis_sdk.charts import Bars, Frontier, Plane, SeriesBars
    from aegis_sdk.charts.hasse import Hasse

#: The bounds of every configuration's share.
BASELINES: Final = MappingProxyType({"the table as it is": 1.0, "nothing shared": 0.0})


@dataclass(frozen=True)
class TextTable:
    """Rows under a header; numbers are right-aligned.

    Attributes:
        header: The names of the columns.
        rows: The rows, with one cell for each column.
        caption: A note on it.
        wide: Number of last columns to show on pages only.
        most: Maximum rows in a terminal; by default all.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str | float]]
    caption: str = ""
    wide: int = 0
    most: int | None = None


class Term(NamedTuple):
    """A term, and its meaning for readers who use the number without computing it."""

    word: str
    meaning: str


@dataclass(frozen=True)
class Terms:
    """Explanations of terms, for pages only."""

    pairs: Sequence[Term]


Figure: TypeAlias = "Bars | Frontier | Hasse | Plane | SeriesBars"
"""A chart, for pages only."""

Part: TypeAlias = "str | TextTable | Terms | Figure"
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


def cell_text(cell: str | float) -> str:
    """Return a cell as text: fractions have up to four significant digits."""
    return str(cell) if isinstance(cell, str | Share) else number(cell, 4)
