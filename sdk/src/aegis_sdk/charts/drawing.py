"""What every chart is made of: a drawing, the same numbers as a table, and the words around them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from aegis_sdk.charts.markup import NOTHING, Markup

SHORT: Final = 8
"""A table of more rows is folded."""


@dataclass(frozen=True)
class Column:
    """The head of a column: what it has, and whether its cells are numbers, which stand at the right."""

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
    """The twin of a chart: the same numbers in rows, whose first cells head them.

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


@dataclass(frozen=True)
class Drawing:
    """A drawing as wide as there is room.

    Attributes:
        content: SVG; places across are shares of the width, those from the top are pixels.
        height: Pixels.
        description: The drawing in a sentence or two.
        legend: What each sign means; a sign is SVG of 18 by 18 pixels.
        definitions: SVG that content and signs refer to.
        up: The title of the upward axis; empty if there is none.
        across: That of the axis to the right.
        frame: `plot` has numbers at its left, `bars` has none, `wide` has a `width` of its own.
        width: Pixels, if the drawing has a width of its own.
        is_image: Whether it is one image to those who do not see it; otherwise the keyboard reaches its parts.
    """

    content: Markup
    height: int
    description: str
    legend: Sequence[tuple[Markup, str]] = ()
    definitions: Markup = NOTHING
    up: str = ""
    across: str = ""
    frame: Literal["plot", "bars", "wide"] = "plot"
    width: float | None = None
    is_image: bool = True


class Chart(Protocol):
    """What can be rendered. `id` is that of its element: letters, digits and hyphens."""

    @property
    def id(self) -> str: ...  # noqa: D102
    @property
    def title(self) -> str: ...  # noqa: D102
    @property
    def empty(self) -> str:
        """What to say if there is no drawing."""

    @property
    def drawing(self) -> Drawing | None: ...  # noqa: D102
    @property
    def all_notes(self) -> Sequence[str]:
        """What else readers should know, as sentences."""

    @property
    def table(self) -> Table | None: ...  # noqa: D102
