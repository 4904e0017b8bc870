"""The plots of the page about what counts give away."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, PercentFormatter

from aegis_provider.disclosure import AttributeDisclosure, Disclosure
from aegis_provider.report.model import Plot
from aegis_provider.report.page import drawing, figure_svg, legend_above
from aegis_sdk.reading import shown

# Told apart by the colour-blind, and in grey.
_BAD, _GOOD, _EMPTY = "#d55e00", "#0072b2", "#b8b8b8"
_SHADES: Final = ("#e0782e", "#eb9f67", "#f2c09b", "#f8ddc9")
_WIDE = "#d3e5f1"

_ROWS = 30
_LONGEST_NAME = 28


def known_within(disclosure: Disclosure) -> Plot:
    """How well the cells of each attribute are known from all its tables together."""
    attributes = _worst(disclosure, lambda each: each.linked.share_within(disclosure.within))
    with drawing():
        figure, axes = _figure(len(attributes))
        reached = [0.0] * len(attributes)
        for name, colour, widths in _bands(attributes):
            axes.barh(range(len(attributes)), widths, left=reached, color=colour, label=name, height=0.72)
            reached = [left + width for left, width in zip(reached, widths, strict=True)]
        axes.set_xlim(0, 1)
        axes.xaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
        axes.set_xlabel("share of the cells: groups of values by label value")
        _name_rows(axes, attributes)
        legend_above(figure, 4)
        caption = "How well cells are known from all tables together. Orange is what differences of tables give away."
        return _plot(figure, f"{caption}{_left_out(disclosure)}")


def small_counts(disclosure: Disclosure) -> Plot:
    """How many small counts of each attribute stand in a table, and how many follow though none shows them."""
    attributes = _worst(disclosure, lambda each: each.below + each.linked.derived_below)
    few = f"1 to {disclosure.below - 1}"
    with drawing():
        figure, axes = _figure(len(attributes))
        _bars(axes, f"counts of {few} in its tables", _GOOD, [each.below for each in attributes], -1, "{:.0f}")
        derived = [each.linked.derived_below for each in attributes]
        _bars(axes, f"counts of {few} in no table, that follow", _BAD, derived, 1, "{:.0f}")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlim(0, 1.08 * max(1, *axes.dataLim.intervalx))
        axes.set_xlabel("counts")
        _name_rows(axes, attributes)
        legend_above(figure)
        caption = "Small counts that are published, and that differences of tables give away."
        return _plot(figure, f"{caption}{_left_out(disclosure)}")


def smallest_counts(disclosure: Disclosure) -> Plot:
    """The smallest count of each attribute in a table, and the smallest that follows though none shows it."""
    attributes = _worst(disclosure, lambda each: -min(_smallest(each), default=float(disclosure.records)))
    with drawing():
        figure, axes = _figure(len(attributes))
        for place, each in enumerate(attributes):
            axes.plot(_smallest(each), [place] * len(_smallest(each)), color="#999999", lw=1, zorder=1)
        for name, colour, marker, size, counts in (
            ("smallest in a table", _GOOD, "o", 60, [each.smallest for each in attributes]),
            ("smallest that follows, in no table", _BAD, "D", 26, [each.linked.derived for each in attributes]),
        ):
            points = [(cell.count, place) for place, cell in enumerate(counts) if cell is not None]
            xs, ys = [x for x, _ in points], [y for _, y in points]
            axes.scatter(xs, ys, s=size, c=colour, marker=marker, label=name, zorder=2)
        axes.axvline(disclosure.below, color="#555555", lw=1, ls="--", label=f"{disclosure.below} records", zorder=0)
        _count_axis(axes)
        _name_rows(axes, attributes)
        legend_above(figure, 3)
        return _plot(figure, f"The smallest counts above 0. Further right is safer.{_left_out(disclosure)}")


def beside_the_truth(disclosure: Disclosure) -> Plot:
    """How far the reconstruction and the margins are from the truth; of attributes that were compared."""
    attributes = [each for each in _worst(disclosure, _nearness) if each.compared is not None]
    margins, pooled = ([_off(each, pooled=which) for each in attributes] for which in (False, True))
    with drawing():
        figure, axes = _figure(len(attributes))
        _bars(axes, "the two histograms alone", _EMPTY, margins, -1, "{:.1%}")
        _bars(axes, "pooled reconstruction, from all tables", _BAD, pooled, 1, "{:.1%}")
        axes.xaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
        axes.margins(x=0.08)
        axes.set_xlim(left=0)
        axes.set_xlabel("share of the records that would have to move (total variation distance, by single values)")
        _name_rows(axes, attributes)
        legend_above(figure)
        return _plot(figure, f"How far from the true joint counts someone gets by the entry.{_left_out(disclosure)}")


def _bars(axes: Axes, name: str, colour: str, widths: Sequence[float], side: int, label: str) -> None:
    """A bar for each attribute, above (-1) or below (1) the middle of its row, and its width beside it."""
    places = [place + 0.19 * side for place in range(len(widths))]
    drawn = axes.barh(places, widths, height=0.36, color=colour, label=name)
    axes.bar_label(drawn, [label.format(width) if width else "" for width in widths], padding=2)


def _figure(rows: int) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(7.2, 1.2 + 0.32 * rows))
    return figure, figure.subplots()


def _plot(figure: Figure, caption: str) -> Plot:
    return Plot(figure_svg(figure), caption)


def _name_rows(axes: Axes, attributes: Sequence[AttributeDisclosure]) -> None:
    """The attributes from the top down, by their names."""
    axes.set_yticks(range(len(attributes)), [shown(each.name, _LONGEST_NAME) for each in attributes])
    axes.set_ylim(len(attributes) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")


def _worst(disclosure: Disclosure, exposure: Callable[[AttributeDisclosure], float]) -> list[AttributeDisclosure]:
    """The attributes that are most exposed, these first."""
    return sorted(disclosure.attributes, key=exposure, reverse=True)[:_ROWS]


def _left_out(disclosure: Disclosure) -> str:
    return (
        f" These are the worst {_ROWS} of {len(disclosure.attributes)}." if len(disclosure.attributes) > _ROWS else ""
    )


def _bands(attributes: Sequence[AttributeDisclosure]) -> Sequence[tuple[str, str, list[float]]]:
    """Name, colour and shares (attributes,) of the cells that are known so well, the best known first."""
    ks = sorted(attributes[0].linked.within)
    shares = [[each.linked.share_within(k) for k in ks] for each in attributes]
    empty = [each.linked.empty / each.linked.cells for each in attributes]
    in_tables = [each.linked.in_tables / each.linked.cells for each in attributes]
    derived = [row[0] - none - shown for row, none, shown in zip(shares, empty, in_tables, strict=True)]
    bands = [("no record, for certain", _EMPTY, empty), ("in a table", _GOOD, in_tables)]
    bands.append(("in no table, known exactly", _BAD, derived))
    for place, (_, k) in enumerate(pairwise(ks)):
        colour = _SHADES[min(place, len(_SHADES) - 1)]
        bands.append((f"to within {k}", colour, [row[place + 1] - row[place] for row in shares]))
    return [*bands, ("less well", _WIDE, [1 - row[-1] for row in shares])]


def _smallest(each: AttributeDisclosure) -> list[int]:
    return [cell.count for cell in (each.smallest, each.linked.derived) if cell is not None]


def _count_axis(axes: Axes) -> None:
    axes.set_xscale("log")
    axes.set_xlim(left=0.8)
    axes.xaxis.set_major_locator(LogLocator(10, subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count:,.0f}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("records")


def _nearness(each: AttributeDisclosure) -> float:
    return _off(each, pooled=False) - _off(each, pooled=True)


def _off(each: AttributeDisclosure, *, pooled: bool) -> float:
    if each.compared is None:
        return 0.0
    return each.compared.pooled.values if pooled else each.compared.margins.values
