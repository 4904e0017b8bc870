"""The parts of every chart: a drawing, a table of its numbers, and text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from aegis_sdk.charts.markup import NOTHING, Markup

SHORT: Final = 8
"""Tables with more rows are folded."""


@dataclass(frozen=True)
class Column:
    """The header of a column, and whether its cells are numbers, which are right-aligned."""

    name: str
    is_number: bool = False


@dataclass(frozen=True)
class Cell:
    """A cell.

    Attributes:
        value: The number in the text, if any.
    """

    text: str
    value: float | None = None
    href: str | None = None


@dataclass(frozen=True)
class Table:
    """The table of a chart: the same numbers in rows with a header cell each.

    Attributes:
        note: Omissions; may be empty.
    """

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    note: str = ""

    @property
    def is_folded(self) -> bool:
        """Whether it is too long to be open beside its chart."""
        return len(self.rows) > SHORT


@dataclass(frozen=True)
class Drawing:
    """A drawing that fills the available width.

    Attributes:
        content: SVG; horizontal positions are shares of the width, vertical ones pixels from the top.
        height: Pixels.
        description: The drawing in a sentence or two.
        legend: The meaning of each sign; a sign is SVG of 18 by 18 pixels.
        definitions: SVG definitions for content and signs.
        up: The title of the upward axis; may be empty.
        across: The title of the axis to the right.
        frame: `plot`: with numbers at its left; `bars`: without; `wide`: with its own `width`.
        width: Pixels, if the frame is `wide`.
        is_image: Whether it is one image for screen readers; otherwise the keyboard reaches its parts.
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
    """A chart that can be rendered. `id` is that of its element: letters, digits and hyphens."""

    @property
    def id(self) -> str: ...  # noqa: D102
    @property
    def title(self) -> str: ...  # noqa: D102
    @property
    def empty(self) -> str:
        """The text if there is no drawing."""

    @property
    def drawing(self) -> Drawing | None: ...  # noqa: D102
    @property
    def all_notes(self) -> Sequence[str]:
        """Notes for readers, as sentences."""

    @property
    def table(self) -> Table | None: ...  # noqa: D102
