"""The parts of every chart: safe markup, colours, a drawing, and a table of its numbers.

Markup is safe by construction: every text in it is escaped and cleaned. Colours of series also differ by the shapes of
marks, dashes of lines and hatches of bars.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from types import MappingProxyType
from typing import Final, Literal, Protocol, Self

# Characters that XML forbids, that break a line, or that change the text direction.
_UNFIT: Final = re.compile(
    "[\\x00-\\x1f\\x7f-\\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]", re.UNICODE
)
_JOINER: Final = "\N{ZERO WIDTH JOINER}"
_ISOLATE, _END = "\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"
_VOID: Final = frozenset({"meta"})


class Markup(str):
    """Finished markup, which templates do not escape."""

    __slots__ = ()

    def __html__(self) -> Self:
        """The markup, by the protocol of template engines."""
        return self


NOTHING: Final = Markup()


def tag(name: str, /, *inner: str | None, **attributes: str | float | None) -> Markup:
    """An element with its content: markup unchanged, any other string as text.

    Attributes of value `None` are omitted; `text_anchor` and `class_` stand for `text-anchor` and `class`.
    """
    said = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(fit(str(value)))}"'
        for key, value in attributes.items()
        if value is not None
    )
    content = joined(*inner)
    return Markup(f"<{name}{said}>" if name in _VOID else f"<{name}{said}>{content}</{name}>")


def joined(*parts: str | None) -> Markup:
    """Concatenate markup and texts."""
    known = (part for part in parts if part is not None)
    return Markup("".join(part if isinstance(part, Markup) else escape(fit(part)) for part in known))


def fit(text: str) -> str:
    """The text without characters that SVG forbids or that would disturb the surrounding text."""
    return _UNFIT.sub("\N{REPLACEMENT CHARACTER}", text)


def cut(text: str, longest: int) -> str:
    """The text, cut to `longest` characters with an ellipsis."""
    clean = fit(text)
    return clean if len(clean) <= longest else f"{clean[: longest - 1].rstrip(_JOINER)}…"


def isolated(text: str) -> str:
    """The text isolated by direction: text from right to left does not affect its surroundings."""
    clean = fit(text)
    return clean if clean.isascii() else f"{_ISOLATE}{clean}{_END}"


def place(share: float) -> str:
    """A position on an axis as an SVG length, from `0%` to `100%`."""
    return f"{round(100 * share, 2):g}%"


def pixels(length: float) -> str:
    """A length in pixels, to a tenth."""
    return f"{round(length, 1):.10g}"


Colour = Literal["blue", "red", "sky", "grey", "green", "pink"]


@dataclass(frozen=True)
class Tone:
    """A colour of the style sheet and its opacity, from 0 to 1."""

    colour: Colour
    strength: float = 1.0

    @property
    def opacity(self) -> float | None:
        """The attribute of a mark; none for a full colour."""
        return None if self.strength == 1 else self.strength


BAD: Final = Tone("red")
GOOD: Final = Tone("blue")
OTHER: Final = Tone("sky")
NEUTRAL: Final = Tone("grey")
TONES: Final = (GOOD, BAD, OTHER, Tone("green"), Tone("pink"), NEUTRAL)
"""The colours of similar series."""

DASHES: Final = (None, "7 3", "2 3", "9 3 2 3", "4 2", "1 4")
_SHAPES: Final = (
    ("circle", MappingProxyType({"r": "5"})),
    ("path", MappingProxyType({"d": "M-4.5-4.5H4.5V4.5H-4.5Z"})),
    ("path", MappingProxyType({"d": "M0-6.5 6.5 0 0 6.5-6.5 0Z"})),
    ("path", MappingProxyType({"d": "M0-6 5.5 4.5H-5.5Z"})),
    ("path", MappingProxyType({"d": "M0 6-5.5-4.5H5.5Z"})),
    ("path", MappingProxyType({"d": "M-2-6H2V-2H6V2H2V6H-2V2H-6V-2H-2Z"})),
)
_HATCHES: Final = ("rotate(45)", "rotate(-45)", "rotate(0)", "rotate(90)", "rotate(20)")


def marks(id: str) -> Markup:  # noqa: A002 - the name that HTML has for it
    """The shapes of marks, for `mark`."""
    return joined(*(tag(name, id=f"{id}-mark-{place}", **shape) for place, (name, shape) in enumerate(_SHAPES)))


def mark(id: str, place: int, tone: Tone, x: str | float, y: str | float) -> Markup:  # noqa: A002 - as above
    """A mark of the series with this index."""
    href = f"#{id}-mark-{place % len(_SHAPES)}"
    return tag("use", href=href, class_=f"chart-mark chart-fill-{tone.colour}", x=x, y=y)


def hatches(id: str, tones: tuple[Tone, ...]) -> Markup:  # noqa: A002 - as above
    """The hatches of all series but the first, which is plain."""
    patterns = []
    for place, tone in enumerate(tones[1:]):
        paper = tag("rect", width=6, height=6, class_="chart-paper")
        stripe = tag("rect", width=4, height=6, class_=f"chart-fill-{tone.colour}", fill_opacity=tone.opacity)
        turned = {"patternUnits": "userSpaceOnUse", "patternTransform": _HATCHES[place % len(_HATCHES)]}
        patterns.append(tag("pattern", paper, stripe, id=f"{id}-hatch-{place}", width=6, height=6, **turned))
    return joined(*patterns)


def hatch(id: str, kind: str, thick: int) -> Markup:  # noqa: A002 - as above
    """Slanted lines of this class and thickness in pixels."""
    turned = {"patternUnits": "userSpaceOnUse", "patternTransform": "rotate(45)"}
    return tag("pattern", tag("rect", class_=kind, width=thick, height=6), id=id, width=6, height=6, **turned)


def bar(id: str, place: int, tone: Tone, **places: str | float) -> Markup:  # noqa: A002 - as above
    """A bar of the series with this index."""
    if place == 0:
        return tag("rect", class_=f"chart-fill-{tone.colour} chart-outline", fill_opacity=tone.opacity, **places)
    return tag("rect", fill=f"url(#{id}-hatch-{place - 1})", class_="chart-outline", **places)


SHORT: Final = 8
"""Tables with more rows are folded."""


@dataclass(frozen=True)
class Column:
    """The header of a column, and whether its cells are numbers, which are right-aligned."""

    name: str
    is_number: bool = False


@dataclass(frozen=True)
class Cell:
    """A cell; `value` is the number in its text, if any."""

    text: str
    value: float | None = None
    href: str | None = None


@dataclass(frozen=True)
class Table:
    """The table of a chart: the same numbers in rows with a header cell each; `note` says what is left out."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    note: str = ""


@dataclass(frozen=True)
class Drawing:
    """A drawing that fills the available width.

    Attributes:
        content: SVG; horizontal positions are shares of the width, vertical ones pixels from the top.
        height: Pixels.
        description: The drawing in a sentence or two.
        legend: The meaning of each sign; a sign is SVG of 18 by 18 pixels.
        definitions: SVG definitions for content and signs.
        up: The title of the upward axis.
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
    def all_notes(self) -> Iterable[str]:
        """Notes for readers, as sentences."""

    @property
    def table(self) -> Table | None: ...  # noqa: D102
