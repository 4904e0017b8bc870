"""Charts as HTML with SVG, or as SVG alone: no scripts, no inline styles, all text escaped."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from aegis_sdk.charts.drawing import SHORT, Cell, Chart, Column, Drawing, Markup, Table, fit, tag
from aegis_sdk.charts.plot import text_width

WIDTH: Final = 760
"""The width in pixels of a chart as a file."""
_SIGN: Final = 18
_MARGIN: Final = 16.0
_BESIDE: Final = MappingProxyType({"plot": (52.0, 12.0), "bars": (0.0, 0.0), "wide": (0.0, 0.0)})
"""The margins at the left and at the right of a drawing in pixels, as in the style sheet."""
_SMALL: Final = 13.0
_LARGE: Final = 17.0
_LINE: Final = 1.4
_NAMESPACE: Final = "http://www.w3.org/2000/svg"


@cache
def style() -> str:
    """The style sheet of all charts, with colours for light, dark, forced colours and print."""
    return (Path(__file__).parent / "charts.css").read_text(encoding="utf-8")


def rendered(chart: Chart) -> Markup:
    """The chart with legend, notes and table, as a `<figure>` for a page with `style`."""
    heading = tag("figcaption", tag("bdi", chart.title), class_="chart-title", id=f"{chart.id}-heading")
    drawing = chart.drawing
    parts = [tag("p", chart.empty, class_="chart-empty")] if drawing is None else _parts(chart, drawing)
    notes = [tag("li", text) for text in chart.all_notes]
    more = [tag("ul", *notes, class_="chart-notes") if notes else None, _twin(chart.table, chart.id)]
    return tag("figure", heading, *parts, *more, class_="chart", id=chart.id, aria_labelledby=f"{chart.id}-heading")


def _parts(chart: Chart, drawing: Drawing) -> Iterator[Markup]:
    if drawing.legend:
        signs = (
            tag("li", tag("svg", sign, width=_SIGN, height=_SIGN, aria_hidden="true"), tag("bdi", words))
            for sign, words in drawing.legend
        )
        yield tag("ul", *signs, class_="chart-legend")
    if drawing.up:
        yield tag("p", "↑ ", tag("bdi", drawing.up), class_="chart-axis")
    svg = tag(
        "svg",
        tag("title", chart.title, id=f"{chart.id}-title"),
        tag("desc", drawing.description, id=f"{chart.id}-desc"),
        tag("defs", drawing.definitions),
        drawing.content,
        xmlns=_NAMESPACE,
        width="100%" if drawing.width is None else round(drawing.width),
        height=drawing.height,
        role="img" if drawing.is_image else "group",
        aria_labelledby=f"{chart.id}-title",
        aria_describedby=f"{chart.id}-desc",
    )
    # Charts wider than the window scroll, also by keyboard.
    is_scrolled = drawing.width is not None
    scrolled = {"tabindex": "0", "role": "group", "aria_labelledby": f"{chart.id}-heading"} if is_scrolled else {}
    yield tag("div", svg, class_=f"chart-{drawing.frame}{' chart-scrolled' if is_scrolled else ''}", **scrolled)
    if drawing.across:
        yield tag("p", tag("bdi", drawing.across), " →", class_="chart-axis chart-axis-across")


def _twin(table: Table | None, id: str) -> Markup | None:  # noqa: A002 - the name that HTML has for it
    if table is None or not table.rows:
        return None
    if len(table.rows) <= SHORT:
        return _rows_of(table, id)
    # A longer one is folded, since it is too long to be open beside its chart.
    return tag("details", tag("summary", "The numbers as a table"), _rows_of(table, id), class_="chart-twin")


def _rows_of(table: Table, id: str) -> Markup:  # noqa: A002 - as above
    classes = ["chart-number" if column.is_number else None for column in table.columns]
    heads = [
        tag("th", column.name, scope="col", class_=class_)
        for column, class_ in zip(table.columns, classes, strict=True)
    ]
    content = tag(
        "table",
        tag("caption", table.caption, id=f"{id}-caption"),
        tag("thead", tag("tr", *heads)),
        tag("tbody", *(tag("tr", *_cells(row, table.columns)) for row in table.rows)),
    )
    note = tag("p", table.note, class_="chart-note") if table.note else None
    return tag("div", content, note, class_="chart-table", role="group", aria_labelledby=f"{id}-caption", tabindex=0)


def _cells(row: Sequence[Cell], columns: Sequence[Column]) -> Iterator[Markup]:
    for place, (cell, column) in enumerate(zip(row, columns, strict=True)):
        text = tag("bdi", cell.text)
        content = tag("a", text, href=cell.href) if cell.href else text
        if place == 0:
            yield tag("th", content, scope="row")
        else:
            yield tag("td", content, class_="chart-number" if column.is_number else None)


def document(chart: Chart, width: float = WIDTH) -> str:
    """The chart as an SVG file, with title, legend, axes and notes, but without the table.

    Args:
        width: Pixels; more if the drawing's own width is larger.

    Raises:
        ValueError: There is nothing to draw.
    """
    drawing = chart.drawing
    if drawing is None:
        raise ValueError(chart.empty)
    sheet = _Sheet(max(width, (drawing.width or 0.0) + sum(_BESIDE[drawing.frame]) + 2 * _MARGIN))
    sheet.fill(chart, drawing)
    wide, high = round(sheet.width), round(sheet.top + _MARGIN)
    svg = tag(
        "svg",
        tag("title", chart.title, id="title"),
        tag("desc", drawing.description, id="desc"),
        Markup(f"<style>{_resolved()}</style>"),
        tag("defs", drawing.definitions),
        tag("rect", width="100%", height="100%", class_="chart-paper"),
        *sheet.parts,
        xmlns=_NAMESPACE,
        width=wide,
        height=high,
        viewBox=f"0 0 {wide} {high}",
        class_="chart",
        role="img",
        aria_labelledby="title",
        aria_describedby="desc",
    )
    return f"{svg}\n"


class _Sheet:
    """A file filled from the top down; `top` is its current end in pixels."""

    def __init__(self, width: float) -> None:
        self.width = width
        self.room = width - 2 * _MARGIN
        self.top = _MARGIN / 2
        self.parts: list[Markup] = []

    def fill(self, chart: Chart, drawing: Drawing) -> None:
        """Add the title, the legend, the axes, the drawing and the notes."""
        self._write(chart.title, _LARGE, "chart-title")
        self.top += _MARGIN / 2
        for row in _legend_rows(drawing.legend, self.room):
            for left, sign, words in row:
                x, y = round(_MARGIN + left, 1), round(self.top, 1)
                self.parts.append(tag("svg", sign, x=x, y=y, width=_SIGN, height=_SIGN))
                self.parts.append(tag("text", words, x=x + _SIGN + 6, y=y + 13, class_="chart-legend"))
            self.top += _SIGN + 4
        if drawing.up:
            self._write(f"↑ {drawing.up}", _SMALL, "chart-axis")
        self.top += _MARGIN / 2
        self._draw(drawing)
        if drawing.across:
            self._write(f"{drawing.across} →", _SMALL, "chart-axis", at_end=True)
        self.top += _MARGIN / 2
        for note in chart.all_notes:
            self._write(note, _SMALL, "chart-notes")

    def _write(self, text: str, size: float, class_: str, *, at_end: bool = False) -> None:
        x, anchor = (self.width - _MARGIN, "end") if at_end else (_MARGIN, None)
        for line in wrapped(text, self.room, size):
            self.top += size * _LINE
            self.parts.append(tag("text", line, x=x, y=round(self.top, 1), text_anchor=anchor, class_=class_))

    def _draw(self, drawing: Drawing) -> None:
        left, right = _BESIDE[drawing.frame]
        places = {"x": _MARGIN + left, "y": round(self.top, 1), "height": drawing.height}
        svg = tag("svg", drawing.content, **places, width=round(drawing.width or self.room - left - right, 1))
        self.parts.append(tag("g", svg, class_=f"chart-{drawing.frame}"))
        self.top += drawing.height


def _legend_rows(legend: Sequence[tuple[Markup, str]], room: float) -> list[list[tuple[float, Markup, str]]]:
    """The signs with their positions from the left, as many in a row as fit."""
    rows: list[list[tuple[float, Markup, str]]] = []
    left = 0.0
    for sign, words in legend:
        wide = _SIGN + 6 + text_width(words, _SMALL) + 20
        if not rows or left + wide > room:
            rows.append([])
            left = 0.0
        rows[-1].append((left, sign, words))
        left += wide
    return rows


def wrapped(text: str, room: float, size: float) -> list[str]:
    """The text in lines of at most this approximate width in pixels, broken between words."""
    lines: list[str] = []
    for word in fit(text).split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


@cache
def _resolved() -> str:
    """The style sheet with its variables replaced, since few SVG viewers support them."""
    sheet = style()
    variables, rules = sheet.split("/* rules */", 1)
    light, dark, *_ = re.findall(r"\{([^{}]*)\}", variables)
    rules = rules[: rules.index("@media print")]
    shades = [dict(re.findall(r"(--chart-[a-z-]+): (#[0-9a-f]{6})", block)) for block in (light, dark)]
    bright, dim = (
        re.sub(r"var\((--chart-[a-z-]+)\)", lambda use: colours[use[1]], rules)  # noqa: B023 - called at once
        for colours in shades
    )
    return f"{bright}@media (prefers-color-scheme: dark) {{{dim}}}"
