"""Hasse diagrams of the maskings of attributes: each masking is a function of those below it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Final

from aegis_sdk.charts.drawing import Drawing, Markup, Table, hatch, isolated, joined, pixels, tag
from aegis_sdk.charts.plot import text_width
from aegis_sdk.printable import percent, shown
from aegis_sdk.reading.advice import reference_known, utility_bounds
from aegis_sdk.reading.configurations import maskings_in
from aegis_sdk.reading.maskings import Lattice, lattice_of, unit_of
from aegis_sdk.wire import DROP, IDENTITY, Advice, Attribute, AttributeAdvice, EntryDocument, Masking, MaskingScore

# Pixels.
_WIDE: Final = 728.0
_NAME: Final = 34.0
_BETWEEN_LAYERS: Final = 30.0
_BETWEEN_NODES: Final = 16.0
_BETWEEN_PANELS: Final = 44.0
_BEND: Final = 24.0
_LINE: Final = 16.0
_PADDING: Final = 8.0
_SIZE: Final = 12.0
_HEAD: Final = 14.0

_NAMES: Final = 3
_LONGEST_NAME: Final = 32
_MOST_ATTRIBUTES: Final = 24
_MOST_MASKINGS: Final = 24
_SWEEPS: Final = 6
_MUCH_THE_SAME: Final = 0.25
_DARKEST: Final = 0.55
"""Opacity of a full loss, so that texts on it are readable in light and dark mode."""
_KEY: Final = ((0.0, "nothing lost"), (0.5, "half"))
_RULE: Final = "A line joins a masking to one above it that is a function of it."


@dataclass(frozen=True)
class NodeBox:
    """A drawn node.

    Attributes:
        loss: The loss of its maskings, from 0 to 1; `None` if not known.
        is_dashed: Whether its maskings lack a mapping.
        is_chosen: Whether the best configuration uses one of its maskings.
    """

    lines: tuple[str, ...]
    loss: float | None = None
    is_dashed: bool = False
    is_chosen: bool = False

    @property
    def width(self) -> float:
        """Pixels."""
        return max(text_width(line, _SIZE) for line in self.lines) + 2 * _PADDING

    @property
    def height(self) -> float:
        """Pixels."""
        return len(self.lines) * _LINE + 2 * _PADDING


@dataclass(frozen=True)
class Layered:
    """Layers from the finest (below) to the coarsest.

    Attributes:
        layers: The keys of each layer from left to right; keys below the number of nodes are nodes, others bends of
            edges that pass the layer.
        chains: The keys of each edge, from the finer node to the coarser.
    """

    layers: tuple[tuple[int, ...], ...]
    chains: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Panel:
    """The diagram of one attribute; `aside`: its maskings without a mapping."""

    name: str
    boxes: tuple[NodeBox, ...]
    aside: tuple[NodeBox, ...]
    drawn: Layered

    @property
    def step(self) -> float:
        """The distance from one layer to the next."""
        return max(box.height for box in (*self.boxes, *self.aside)) + _BETWEEN_LAYERS

    @cached_property
    def inner_width(self) -> float:
        """The width of the diagram itself."""
        return max(map(self._layer_width, self.drawn.layers))

    @cached_property
    def width(self) -> float:
        """The width including the maskings aside and the name."""
        aside = max((box.width + _BETWEEN_PANELS / 2 for box in self.aside), default=0.0)
        return max(self.inner_width + aside, 1.1 * text_width(self.name, _HEAD))

    @property
    def height(self) -> float:
        """The height including the name."""
        return _NAME + max(len(self.drawn.layers), len(self.aside)) * self.step

    def _width_of(self, key: int) -> float:
        return self.boxes[key].width if key < len(self.boxes) else _BEND

    def _layer_width(self, layer: Sequence[int]) -> float:
        return sum(map(self._width_of, layer)) + _BETWEEN_NODES * (len(layer) - 1)

    def places(self, left: float, top: float) -> Iterator[tuple[int, tuple[float, float]]]:
        """The centre of every node and bend, with centred layers and the finest one at the bottom."""
        lowest = top + self.height - self.step / 2
        for rank, layer in enumerate(self.drawn.layers):
            x = left + (self.inner_width - self._layer_width(layer)) / 2
            for key in layer:
                yield key, (x + self._width_of(key) / 2, lowest - rank * self.step)
                x += self._width_of(key) + _BETWEEN_NODES

    def beside(self, left: float, top: float) -> Iterator[tuple[NodeBox, tuple[float, float]]]:
        """The maskings aside, each with its centre."""
        for rank, box in enumerate(self.aside):
            x = left + self.inner_width + _BETWEEN_PANELS / 2 + box.width / 2
            yield box, (x, top + self.height - self.step / 2 - rank * self.step)


@dataclass(frozen=True)
class Hasse:
    """The diagrams of several attributes, in rows.

    Attributes:
        best: The configuration with framed maskings; `None` without an advice.
        of_largest: Whether losses are relative to the largest one, since the whole is not known.
    """

    title: str
    panels: Sequence[Panel]
    best: str | None = None
    of_largest: bool = False
    all_notes: Sequence[str] = ()
    id: str = "lattice"
    empty: str = "There is no attribute to draw."

    @property
    def table(self) -> Table | None:
        """None: `aegis entries show` lists the maskings."""
        return None

    @property
    def description(self) -> str:
        """The diagrams in words."""
        names = "; ".join(
            f"{isolated(panel.name)}: {len(panel.boxes) + len(panel.aside)} groupings" for panel in self.panels
        )
        return f"{_RULE} {names}."

    @cached_property
    def places(self) -> list[tuple[Panel, float, float]]:
        """The panels in order with their left and upper ends, as many in a row as fit."""
        placed: list[tuple[Panel, float, float]] = []
        left = top = lowest = 0.0
        for panel in self.panels:
            if left and left + panel.width > _WIDE:
                left, top = 0.0, lowest
            placed.append((panel, left, top))
            left += panel.width + _BETWEEN_PANELS
            lowest = max(lowest, top + panel.height)
        return placed

    @cached_property
    def drawing(self) -> Drawing | None:
        """The diagrams with their names."""
        if not self.panels:
            return None
        return Drawing(
            joined(*(part for place in self.places for part in self._panel(*place))),
            round(max(top + panel.height for panel, _, top in self.places)),
            self.description,
            list(self._legend()),
            hatch(f"{self.id}-unknown", "chart-thin-hatch", 2),
            frame="wide",
            width=max(left + panel.width for panel, left, _ in self.places) + 2,
        )

    def _legend(self) -> Iterator[tuple[Markup, str]]:
        def sign(box: NodeBox) -> Markup:
            return joined(*self._frame(box, 1, 3, 16, 12))

        if self.best is not None:
            whole = "the most that a masking loses" if self.of_largest else "all that its attribute tells lost"
            yield from ((sign(NodeBox((), loss)), words) for loss, words in (*_KEY, (1.0, whole)))
            yield sign(NodeBox(())), "loss not known"
            yield sign(NodeBox((), 0.0, is_chosen=True)), f"chosen by {self.best}"
        if any(panel.aside for panel in self.panels):
            yield tag("rect", x=1, y=3, width=16, height=12, class_="chart-box", stroke_dasharray="3 2"), "no mapping"

    def _panel(self, panel: Panel, left: float, top: float) -> Iterator[Markup]:
        yield tag("text", panel.name, class_="chart-heading", x=pixels(left), y=pixels(top + _HEAD + 2))
        places = dict(panel.places(left, top))
        for chain in panel.drawn.chains:
            corners = "L".join(f"{pixels(x)} {pixels(y)}" for x, y in (places[key] for key in chain))
            yield tag("path", class_="chart-edge-line", d=f"M{corners}")
        for key, box in enumerate(panel.boxes):
            yield self._box(box, *places[key])
        for box, place in panel.beside(left, top):
            yield self._box(box, *place)

    def _box(self, box: NodeBox, x: float, y: float) -> Markup:
        left, top = x - box.width / 2, y - box.height / 2
        loss = "" if box.loss is None else f": {percent(box.loss)} lost"
        lines = (
            tag("text", line, x=pixels(x), y=pixels(top + _PADDING + (number + 0.75) * _LINE), text_anchor="middle")
            for number, line in enumerate(box.lines)
        )
        words = f"{', '.join(map(isolated, box.lines))}{loss}"
        return tag("g", tag("title", words), *self._frame(box, left, top, box.width, box.height), *lines)

    def _frame(self, box: NodeBox, x: float, y: float, width: float, height: float) -> Iterator[Markup]:
        """The filled outline of a box: darker for a larger loss, hatched if the loss is not known."""
        place = {"x": pixels(x), "y": pixels(y), "width": pixels(width), "height": pixels(height), "rx": "4"}
        yield tag("rect", class_="chart-box", stroke_dasharray="5 3" if box.is_dashed else None, **place)
        if box.loss is not None:
            yield tag("rect", class_="chart-fill-blue", fill_opacity=f"{_DARKEST * box.loss:.3g}", **place)
        elif self.best is not None:
            yield tag("rect", fill=f"url(#{self.id}-unknown)", **place)
        if box.is_chosen:
            yield tag("rect", class_="chart-box-chosen", **place)


def lattice_chart(entry: EntryDocument, advice: Advice | None = None, attributes: Sequence[str] | None = None) -> Hasse:
    """The Hasse diagram of the maskings of each attribute, finer ones below coarser ones.

    Maskings that group the values alike share a box. Those without a mapping are set aside, dashed. With an advice, a
    box is darker for a larger loss of the attribute's reference utility, and hatched if the loss is not known; the
    maskings of the best configuration have a thick frame.

    Args:
        attributes: The names of the attributes to draw; all by default.
    """
    wanted = [attribute for attribute in entry.attributes if not attributes or attribute.name in attributes]
    best = maskings_in(entry, advice.configuration) if advice else {}
    panels = []
    for attribute in wanted[:_MOST_ATTRIBUTES]:
        losses, chosen = losses_of(advice, attribute.name), best.get(attribute.name)
        panels.append(_panel(attribute, attribute.maskings[:_MOST_MASKINGS], losses, chosen))
    return Hasse(
        shown(f"Which masking can be computed from which: {entry.name}", 70),
        panels,
        None if advice is None else shown(advice.configuration or "the best configuration", 24),
        of_largest=advice is not None and advice.better == "lower",
        all_notes=[_RULE, *_left_out(wanted)],
    )


def _left_out(attributes: Sequence[Attribute]) -> Iterator[str]:
    limits = []
    if len(attributes) > _MOST_ATTRIBUTES:
        limits.append(f"the first {_MOST_ATTRIBUTES} of {len(attributes)} attributes")
    if any(len(attribute.maskings) > _MOST_MASKINGS for attribute in attributes[:_MOST_ATTRIBUTES]):
        limits.append(f"the first {_MOST_MASKINGS} maskings of each")
    if limits:
        yield f"Drawn are {' and '.join(limits)}."


def _panel(attribute: Attribute, maskings: Sequence[Masking], losses: Mapping[str, float], chosen: str | None) -> Panel:
    order = lattice_of(attribute.model_copy(update={"maskings": list(maskings)}))
    units = {masking.id: unit for masking in maskings if (unit := unit_of(masking))}
    boxes = (
        replace(_box(node.maskings, node.groups, losses, units), is_chosen=chosen in node.maskings)
        for node in order.nodes
    )
    aside = (
        replace(_box((name,), len(attribute.domain), losses, units), is_dashed=True, is_chosen=chosen == name)
        for name in order.outside
    )
    return Panel(shown(attribute.name, _LONGEST_NAME), tuple(boxes), tuple(aside), layered(order))


def _box(maskings: Sequence[str], values: int, losses: Mapping[str, float], units: Mapping[str, str]) -> NodeBox:
    names = [_named(masking, units.get(masking)) for masking in maskings[:_NAMES]]
    more = [f"+{len(maskings) - _NAMES}"] if len(maskings) > _NAMES else []
    lines = (*names, *more, f"{values:,} value{'s' * (values != 1)}")
    return NodeBox(lines, next((losses[masking] for masking in maskings if masking in losses), None))


def _named(masking: str, unit: str | None) -> str:
    """Return the masking's id, with its unit for a level of a hierarchy of dates."""
    name = shown(masking, _LONGEST_NAME)
    return name if unit is None or unit in name else f"{name}: {shown(unit, _LONGEST_NAME)}"


def losses_of(advice: Advice | None, attribute: str) -> Mapping[str, float]:
    """Return the share of the attribute's reference utility that each masking loses: 0 is nothing, 1 is all.

    `identity` loses nothing and `drop` everything, even if the answer does not contain them. A masking is left out if
    the utility of the unmasked attribute is so uncertain that the share could be small or large. For errors, where less
    is better, the whole is not known; then 1 is the largest loss of any masking of the attribute.
    """
    scored = next((each for each in (advice.attributes if advice else None) or () if each.name == attribute), None)
    if scored is None or advice is None:
        return {}
    if advice.better == "lower":
        most = max((score.deviation for score in scored.maskings.values()), default=0.0)
        return {IDENTITY: 0.0, **{name: _share(score.deviation, most) for name, score in scored.maskings.items()}}
    known = {
        name: _share(score.deviation, scored.reference_utility)
        for name, score in scored.maskings.items()
        if _is_certain(scored, score)
    }
    return {**known, IDENTITY: 0.0, DROP: float(scored.reference_utility > 0)}


def _share(deviation: float, whole: float) -> float:
    return min(1.0, deviation / whole) if whole > 0 else 0.0


def _is_certain(attribute: AttributeAdvice, score: MaskingScore) -> bool:
    """Return whether the share is nearly the same for every possible utility of the unmasked attribute."""
    if reference_known(attribute):
        return True
    most = utility_bounds(attribute).most
    at_most = 1 - score.utility / most if most > 0 else 0.0
    return at_most - _share(score.deviation, attribute.reference_utility) <= _MUCH_THE_SAME


def layered(lattice: Lattice) -> Layered:
    """Place every node one layer above the highest that it covers.

    Sweeps sort the layers by barycentres to avoid crossings.
    """
    ranks = _ranks(lattice)
    layers: list[list[int]] = [[] for _ in range(max(ranks) + 1)]
    for node, rank in enumerate(ranks):
        layers[rank].append(node)
    bends = len(ranks)
    chains = []
    for finer, coarser in lattice.covers:
        between = range(bends, bends + ranks[coarser] - ranks[finer] - 1)
        for rank, bend in enumerate(between, start=ranks[finer] + 1):
            layers[rank].append(bend)
        bends += len(between)
        chains.append((finer, *between, coarser))
    _untangle(layers, chains)
    return Layered(tuple(map(tuple, layers)), tuple(chains))


def _ranks(lattice: Lattice) -> list[int]:
    """Return for each node the length of the longest path up to it."""
    ranks = [0] * len(lattice.nodes)
    for finer, coarser in sorted(lattice.covers):
        ranks[coarser] = max(ranks[coarser], ranks[finer] + 1)
    return ranks


def _untangle(layers: list[list[int]], chains: Sequence[tuple[int, ...]]) -> None:
    """Sort each layer by the mean position of its neighbours in the layer before, upwards and downwards in turn."""
    links = [link for chain in chains for link in pairwise(chain)]
    below: dict[int, list[int]] = {}
    above: dict[int, list[int]] = {}
    for lower, upper in links:
        below.setdefault(upper, []).append(lower)
        above.setdefault(lower, []).append(upper)
    for sweep in range(_SWEEPS):
        upwards = sweep % 2 == 0
        ordered = layers if upwards else layers[::-1]
        for fixed, moved in pairwise(ordered):
            _sort(moved, fixed, below if upwards else above)


def _sort(moved: list[int], fixed: Sequence[int], neighbours: Mapping[int, Sequence[int]]) -> None:
    """Sort by barycentres. Positions are relative to the middle of a layer, because layers are centred."""
    places = {key: place - (len(fixed) - 1) / 2 for place, key in enumerate(fixed)}
    middle = (len(moved) - 1) / 2
    own = {key: place - middle for place, key in enumerate(moved)}

    def barycentre(key: int) -> float:
        near = [places[each] for each in neighbours.get(key, ()) if each in places]
        return sum(near) / len(near) if near else own[key]

    moved.sort(key=barycentre)
