"""The maskings of each attribute as a Hasse diagram: a masking is a function of those below it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from aegis_provider.report.figures import Drawing, Subject
from aegis_provider.report.model import Part, Plot
from aegis_provider.report.page import drawing, figure_svg
from aegis_provider.report.plots.layered import Layered, layered
from aegis_provider.report.plots.shading import draw_key, fill_of, ink_on, key_width, losses_of
from aegis_provider.report.plots.style import INK, LONGEST_NAME, VERMILION, few, left_out, text_width
from aegis_sdk.reading import lattice_of, maskings_in, shown, unit_of
from aegis_sdk.wire import Advice, Attribute, EntryDocument

# Inches, except for font sizes.
_WIDE = 9.6
_MARGIN = 0.3
_HEAD = 0.95
_KEY = 0.3
_FOOT = 0.35
_NAME = 0.32
_BETWEEN_LAYERS = 0.32
_BETWEEN_NODES = 0.18
_BETWEEN_PANELS = 0.5
_BEND = 0.3
_LINE = 0.165
_PADDING = 0.09
_POINTS = 9
_TITLE_POINTS = 13

_NAMES = 3
_RULE = "a line joins a masking to one above it that is a function of it"


@dataclass(frozen=True)
class _Box:
    """A node as it is drawn: its lines of text, its width, and what its maskings lose (0 to 1, if known).

    `chosen`: whether the best configuration has one of its maskings.
    """

    lines: tuple[str, ...]
    width: float
    loss: float | None = None
    dashed: bool = False
    chosen: bool = False

    @property
    def height(self) -> float:
        return len(self.lines) * _LINE + 2 * _PADDING


@dataclass(frozen=True)
class _Panel:
    """The diagram of one attribute; `aside`: its maskings without a mapping."""

    name: str
    boxes: tuple[_Box, ...]
    aside: tuple[_Box, ...]
    drawn: Layered

    @property
    def step(self) -> float:
        """The distance from one layer to the next."""
        return max(box.height for box in self.boxes) + _BETWEEN_LAYERS

    @property
    def inner_width(self) -> float:
        """The width of the diagram itself."""
        return max(map(self.layer_width, self.drawn.layers))

    @property
    def width(self) -> float:
        aside = max((box.width + _BETWEEN_PANELS / 2 for box in self.aside), default=0.0)
        return max(self.inner_width + aside, text_width(self.name, _POINTS + 3, bold=True))

    @property
    def height(self) -> float:
        layers = max(len(self.drawn.layers), len(self.aside))
        return _NAME + layers * self.step

    def width_of(self, key: int) -> float:
        """Return the width of a node, or of the bend of an edge."""
        return self.boxes[key].width if key < len(self.boxes) else _BEND

    def layer_width(self, layer: Sequence[int]) -> float:
        return sum(map(self.width_of, layer)) + _BETWEEN_NODES * (len(layer) - 1)


@drawing()
def lattice(entry: EntryDocument, advice: Advice | None = None, attributes: Sequence[str] | None = None) -> Figure:
    """Draw the Hasse diagram of the maskings of each attribute, finer ones below coarser ones.

    Maskings that group the values alike share a box. Those without a mapping stand aside, dashed. With an advice, a
    box is darker the more of the attribute's reference utility its masking loses, and grey if that is not known; those
    of the best configuration have a thick frame.
    `attributes`: the names of those to draw; by default all of the entry.
    """
    chosen = [each for each in entry.attributes if not attributes or each.name in attributes]
    best = maskings_in(entry, advice.configuration) if advice else {}
    panels = [_panel(each, losses_of(advice, each.name), best.get(each.name)) for each in few(chosen)]
    rows = _shelves(panels)
    notes = _notes(entry, left_out(chosen))
    width = max(*map(_row_width, rows), *_heading_widths(entry, advice, notes)) + 2 * _MARGIN
    head = _HEAD + (_KEY if advice else 0)
    height = head + _FOOT - _BETWEEN_PANELS + sum(max(panel.height for panel in row) + _BETWEEN_PANELS for row in rows)
    figure = Figure(figsize=(width, height))
    figure.set_layout_engine("none")
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(0, height))
    axes.set_axis_off()
    _heading(axes, height, entry, advice, notes)
    top = height - head
    for row in rows:
        left = _MARGIN
        for panel in row:
            _draw(axes, panel, left, top, advised=advice is not None)
            left += panel.width + _BETWEEN_PANELS
        top -= max(panel.height for panel in row) + _BETWEEN_PANELS
    return figure


def _panel(attribute: Attribute, losses: Mapping[str, float], chosen: str | None) -> _Panel:
    order = lattice_of(attribute)
    outside = {each.id: each for each in attribute.maskings if each.id in order.outside}
    units = {each.id: unit for each in attribute.maskings if (unit := unit_of(each))}
    return _Panel(
        name=shown(attribute.name, LONGEST_NAME),
        boxes=tuple(
            replace(_box(node.maskings, node.groups, losses, units), chosen=chosen in node.maskings)
            for node in order.nodes
        ),
        aside=tuple(
            replace(_box((name,), len(each.domain), losses, units), dashed=True, chosen=chosen == name)
            for name, each in outside.items()
        ),
        drawn=layered(order),
    )


def _box(maskings: Sequence[str], values: int, losses: Mapping[str, float], units: Mapping[str, str]) -> _Box:
    names = [_named(each, units.get(each)) for each in maskings[:_NAMES]]
    more = [f"+{len(maskings) - _NAMES}"] if len(maskings) > _NAMES else []
    lines = (*names, *more, f"{values} value{'s' * (values != 1)}")
    width = max(text_width(line, _POINTS) for line in lines) + 2 * _PADDING
    return _Box(lines, width, next((losses[each] for each in maskings if each in losses), None))


def _named(masking: str, unit: str | None) -> str:
    """Return the masking's id, and its unit if it is a level of a hierarchy of dates."""
    name = shown(masking, LONGEST_NAME)
    return name if unit is None or unit in name else f"{name}: {shown(unit, LONGEST_NAME)}"


def _shelves(panels: Sequence[_Panel]) -> list[list[_Panel]]:
    """Arrange the panels in rows, as many in each as fit, in their order."""
    rows: list[list[_Panel]] = [[]]
    for panel in panels:
        used = sum(each.width + _BETWEEN_PANELS for each in rows[-1])
        if rows[-1] and used + panel.width > _WIDE - 2 * _MARGIN:
            rows.append([])
        rows[-1].append(panel)
    return rows


def _draw(axes: Axes, panel: _Panel, left: float, top: float, *, advised: bool) -> None:
    """Draw the panel with its upper left corner at this place."""
    axes.text(left, top, panel.name, fontsize=_POINTS + 3, fontweight="bold", color=INK, va="top")
    bottom = top - _NAME - len(panel.drawn.layers) * panel.step + panel.step / 2
    places = dict(_places(panel, left, bottom))
    for chain in panel.drawn.chains:
        axes.plot(*zip(*(places[key] for key in chain), strict=True), color="#9a9a9a", linewidth=1.1, zorder=1)
    for key, box in enumerate(panel.boxes):
        _draw_box(axes, box, *places[key], advised=advised)
    for place, box in enumerate(panel.aside):
        middle = left + panel.inner_width + _BETWEEN_PANELS / 2 + box.width / 2
        _draw_box(axes, box, middle, bottom + place * panel.step, advised=advised)


def _places(panel: _Panel, left: float, bottom: float) -> Iterator[tuple[int, tuple[float, float]]]:
    """Yield the middle of every node and bend, with each layer centred."""
    for rank, layer in enumerate(panel.drawn.layers):
        x = left + (panel.inner_width - panel.layer_width(layer)) / 2
        for key in layer:
            yield key, (x + panel.width_of(key) / 2, bottom + rank * panel.step)
            x += panel.width_of(key) + _BETWEEN_NODES


def _draw_box(axes: Axes, box: _Box, x: float, y: float, *, advised: bool) -> None:
    fill = fill_of(box.loss, advised=advised)
    corner = (x - box.width / 2 + 0.04, y - box.height / 2 + 0.04)
    frame = FancyBboxPatch(corner, box.width - 0.08, box.height - 0.08, boxstyle="round,pad=0.04")
    edge, width = (VERMILION, 3.0) if box.chosen else ("#666666", 0.9)
    frame.set(facecolor=fill, edgecolor=edge, linewidth=width, zorder=2, linestyle="--" if box.dashed else "-")
    axes.add_patch(frame)
    ink = ink_on(box.loss)
    top = y + (len(box.lines) - 1) * _LINE / 2
    for place, line in enumerate(box.lines):
        last = place == len(box.lines) - 1
        size = _POINTS - 1.5 if last else _POINTS
        axes.text(x, top - place * _LINE, line, fontsize=size, color=ink, ha="center", va="center", zorder=3)


def _row_width(row: Sequence[_Panel]) -> float:
    return sum(panel.width + _BETWEEN_PANELS for panel in row)


def _heading_widths(entry: EntryDocument, advice: Advice | None, notes: str) -> list[float]:
    """Return the width in inches of each line of the heading, and of the notes at the foot."""
    texts = [text_width(_title(entry), _TITLE_POINTS, bold=True), text_width(_RULE, _POINTS + 0.5)]
    return [*texts, text_width(notes, _POINTS), key_width(advice) if advice is not None else 0.0]


def _title(entry: EntryDocument) -> str:
    return shown(f"Which masking can be computed from which: {entry.name}", 70)


def _notes(entry: EntryDocument, note: str) -> str:
    """Say what dashes mean, if there are any, and what is left out."""
    unknown = any(each.mapping is None for attribute in entry.attributes for each in attribute.maskings)
    return "; ".join([*(["dashed: without a mapping"] if unknown else []), *([note] if note else [])])


def _heading(axes: Axes, height: float, entry: EntryDocument, advice: Advice | None, notes: str) -> None:
    """Write the title, what the boxes mean, and what is left out."""
    axes.text(_MARGIN, height - 0.2, _title(entry), fontsize=_TITLE_POINTS, fontweight="bold", color=INK, va="top")
    axes.text(_MARGIN, height - 0.5, _RULE, fontsize=_POINTS + 0.5, color="#555555", va="top")
    if advice is not None:
        draw_key(axes, _MARGIN, height - 0.87, advice)
    axes.text(_MARGIN, 0.15, notes, fontsize=_POINTS, color="#555555")


def _figure(subject: Subject) -> Figure:
    return lattice(subject.entry, subject.advice, subject.attributes)


def _parts(subject: Subject) -> Iterator[Part]:
    yield (
        "A masking stands above those it can be computed from: it tells no more than they do, and is at least as "
        "private. Maskings in one box group the values alike. If no path leads up from one to another, neither can be "
        "computed from the other."
    )
    if subject.advice is not None:
        yield (
            "The darker a box, the more of the reference utility of its attribute is lost. Dropping the attribute "
            "loses all of it. Grey means that the loss is not known: no configuration that was asked about uses the "
            "masking, or the unmasked joint counts are not known and it may lose little or much of what they would "
            "tell. Boxes with a thick frame are what the best configuration has."
        )
    yield Plot(figure_svg(_figure(subject)), "The Hasse diagram of the maskings of every attribute.")


DRAWING: Final = Drawing(figure=_figure, parts=_parts)
