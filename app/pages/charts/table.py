"""The twin of a chart: the same numbers as a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

SHORT: Final = 8
"""A table of more rows is folded."""


@dataclass(frozen=True)
class Column:
    """The head of a column.

    Attributes:
        name: What it has.
        is_number: Whether its cells are numbers, which stand at the right.
    """

    name: str
    is_number: bool = False


@dataclass(frozen=True)
class Cell:
    """A cell.

    Attributes:
        text: What it shows.
        value: The number that the text shows, if it shows one.
        href: Where it leads.
    """

    text: str
    value: float | None = None
    href: str | None = None


@dataclass(frozen=True)
class Table:
    """A table whose first cells head their rows.

    Attributes:
        caption: What it shows.
        columns: The heads of the columns.
        rows: A cell for each column.
        note: What it leaves out; may be empty.
    """

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    note: str = ""

    @property
    def is_folded(self) -> bool:
        """Whether it is too long to stand open beside its chart."""
        return len(self.rows) > SHORT
