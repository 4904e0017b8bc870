"""Drawing of the charts of any report. Needs the extra `plots` (matplotlib)."""

from collections.abc import Iterator, Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter, StrMethodFormatter

from aegis_provider.report.model import Bars, Curves, Levels, Measured, Points, Scatter, Series
from aegis_sdk.printable import Share
from aegis_sdk.reading import shown

_LONGEST_NAME = 50
_WIDTH = 7.2
_SHORT = 28
_APART: Final = 0.14
# Of more series, numbers would lie over each other.
_NUMBERED: Final = 2
# An interval that is wider than these shares runs out of the picture.
_LOWEST: Final = -0.3
_HIGHEST: Final = 1.4
_LEVEL: Final = "#555555"
_SHADE: Final = "#f1f1f1"
_POINT: Final = 12
_SEE_THROUGH: Final = 0.5


def drawn(chart: Bars | Curves | Levels | Points | Scatter) -> Figure:
    """Draw the chart; call this within `page.drawing`."""
    if isinstance(chart, Levels):
        return _levels(chart)
    if isinstance(chart, Scatter):
        return _scatter(chart)
    if isinstance(chart, Points):
        return _points(chart)
    return _bars(chart) if isinstance(chart, Bars) else _curves(chart)


def legend_above(figure: Figure) -> None:
    """Put the legend of the figure's first axes above them, where no bar or line can be."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    columns = 3 if all(len(label) < _SHORT for label in labels) else 2
    figure.legend(handles, labels, loc="outside upper left", ncols=columns, frameon=False)


def _bars(chart: Bars) -> Figure:
    beside = 1 if chart.stacked else len(chart.series)
    figure = Figure(figsize=(_WIDTH, 1.2 + len(chart.groups) * (0.06 + 0.17 * beside)))
    axes = figure.subplots()
    reached = [0.0] * len(chart.groups)
    for number, ((name, colour), lengths) in enumerate(chart.series.items()):
        label, height = shown(name, _LONGEST_NAME), 0.76 / beside
        if chart.stacked:
            axes.barh(range(len(lengths)), lengths, height, left=reached, color=colour, label=label)
            reached = [left + length for left, length in zip(reached, lengths, strict=True)]
        else:
            places = [place + (number - (beside - 1) / 2) * height for place in range(len(lengths))]
            bars = axes.barh(places, lengths, height, color=colour, label=label)
            axes.bar_label(bars, [_length(each, shares=chart.shares) for each in lengths], padding=2)
    _length_axis(axes, chart)
    axes.set_yticks(range(len(chart.groups)), [shown(each, _LONGEST_NAME) for each in chart.groups])
    axes.set_ylim(len(chart.groups) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    legend_above(figure)
    return figure


def _length(length: float, *, shares: bool) -> str:
    """Return the number beside a bar."""
    if not length:
        return ""
    return str(Share(length)) if shares else f"{length:,.0f}"


def _length_axis(axes: Axes, chart: Bars) -> None:
    axes.set_xlabel(chart.axis)
    if chart.shares:
        axes.xaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
    else:
        # One attribute can have a thousand times the counts of another. Below 1 the scale is linear, since there is 0.
        axes.set_xscale("symlog", linthresh=1)
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    longest = max((length for lengths in chart.series.values() for length in lengths), default=0.0)
    axes.set_xlim(0, 1 if chart.stacked else (1.1 if chart.shares else 3) * (longest or 1))


def _curves(chart: Curves) -> Figure:
    figure = Figure(figsize=(_WIDTH, 2.8))
    axes = figure.subplots()
    labels = {curve.name: shown(curve.name, _LONGEST_NAME) for curve in chart.curves}
    for curve in chart.curves:
        label = labels.pop(curve.name, None)
        axes.plot(chart.numbers, curve.heights, color=curve.colour, lw=curve.width, label=label)
    axes.set_xlabel(chart.axes[0])
    axes.set_ylabel(chart.axes[1])
    if len(chart.numbers) > 1:
        axes.set_xlim(chart.numbers[0], chart.numbers[-1])
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
    legend_above(figure)
    return figure


def _points(chart: Points) -> Figure:
    figure = Figure(figsize=(_WIDTH, 5.2))
    axes = figure.subplots()
    for (name, colour), points in chart.series.items():
        across, up = zip(*points, strict=True) if points else ((), ())
        axes.scatter(across, up, s=_POINT, alpha=_SEE_THROUGH, lw=0, color=colour, label=shown(name, _LONGEST_NAME))
    # Only which points are near each other means something.
    axes.set_xticks([])
    axes.set_yticks([])
    legend_above(figure)
    return figure


def _scatter(chart: Scatter) -> Figure:
    figure = Figure(figsize=(_WIDTH, 4.2))
    axes = figure.subplots()
    for name, level in chart.levels.items():
        draw_level(axes, name, level)
    for name, number in chart.across.items():
        axes.axvline(number, color=_LEVEL, ls="--", lw=1, zorder=1)
        axes.text(number, 1.01, name, transform=axes.get_xaxis_transform(), ha="center", color=_LEVEL)
    kinds = {each.kind: each.kind for each in chart.points}
    for each in chart.points:
        across, up = _errors(each.across), _errors(each.up)
        label = kinds.pop(each.kind, None)
        axes.errorbar(
            each.across.value, each.up.value, up, across, "o", color=each.colour, ms=5, lw=1, capsize=2, label=label
        )
        place = (each.across.value, each.up.value)
        axes.annotate(shown(each.name, _SHORT), place, (4, 4), textcoords="offset points", fontsize=8)
    axes.set_xlabel(chart.axes[0])
    axes.set_ylabel(chart.axes[1])
    share_axis(axes, [each.up for each in chart.points])
    legend_above(figure)
    return figure


def _errors(measured: Measured) -> list[list[float]] | None:
    """Return how far the limits of an interval are below and above the number."""
    if measured.limits is None:
        return None
    return [[max(0.0, measured.value - measured.limits[0])], [max(0.0, measured.limits[1] - measured.value)]]


def _levels(chart: Levels) -> Figure:
    figure = Figure(figsize=(_WIDTH, 3.6))
    axes = figure.subplots()
    axes.grid(visible=False, axis="x")
    for name, level in chart.levels.items():
        draw_level(axes, name, level)
    for number, series in enumerate(chart.series):
        # Series beside each other, so that no interval hides another.
        _series(axes, series, (number - (len(chart.series) - 1) / 2) * _APART)
        if len(chart.series) <= _NUMBERED:
            _numbers(axes, series, (number - (len(chart.series) - 1) / 2) * _APART, above=number == 0)
    _places(axes, chart)
    axes.set_xlabel(chart.axes[0])
    axes.set_ylabel(chart.axes[1])
    share_axis(axes, [each for series in chart.series for _, each in _known(series)])
    legend_above(figure)
    return figure


def _series(axes: Axes, series: Series, aside: float) -> None:
    known = [(place + aside, each) for place, each in _known(series)]
    places, values = [place for place, _ in known], [each.value for _, each in known]
    axes.plot(places, values, "o", ls="-" if series.joined else "", color=series.colour, label=series.name, ms=5)
    for place, each in known:
        if each.limits is not None:
            below, above = each.value - each.limits[0], each.limits[1] - each.value
            axes.errorbar(place, each.value, [[below], [above]], color=series.colour, capsize=3)


def _numbers(axes: Axes, series: Series, aside: float, *, above: bool) -> None:
    """Write the numbers above or below their points and intervals."""
    for place, each in _known(series):
        low, high = each.limits or (each.value, each.value)
        end, up, vertical = (high, 5, "bottom") if above else (low, -5, "top")
        axes.annotate(
            str(Share(each.value)), (place + aside, end), (0, up), textcoords="offset points", fontsize=8, ha="center",
            va=vertical, bbox={"color": "white", "alpha": 0.7, "pad": 0.5},
        )  # fmt: skip


def _known(series: Series) -> Iterator[tuple[int, Measured]]:
    return ((place, each) for place, each in enumerate(series.numbers) if each is not None)


def _places(axes: Axes, chart: Levels) -> None:
    """Name the places, and shade the one that was chosen."""
    names = [shown(each, _SHORT) for each in chart.places]
    if chart.marked is not None:
        chosen, why = chart.marked
        names[chosen] += f"\n{why}"
        axes.axvspan(chosen - 0.45, chosen + 0.45, color=_SHADE, zorder=0)
    axes.set_xticks(range(len(names)), names)
    axes.set_xlim(-0.6, len(names) - 0.4)
    if chart.marked is not None:
        axes.get_xticklabels()[chart.marked[0]].set_fontweight("bold")


def draw_level(axes: Axes, name: str, level: float) -> None:
    """Draw a share to compare others with, its name at the right of the axes."""
    axes.axhline(level, color=_LEVEL, ls="--", lw=1, zorder=1)
    axes.text(1.01, level, name, transform=axes.get_yaxis_transform(), va="center", color=_LEVEL)


def share_axis(axes: Axes, numbers: Sequence[Measured]) -> None:
    """Let the upward axis show shares from 0 to 100 %, and a little beyond if the numbers go there."""
    lowest = min((min(each.limits or (each.value,)) for each in numbers), default=0.0)
    highest = max((max(each.limits or (each.value,)) for each in numbers), default=1.0)
    axes.set_ylim(max(_LOWEST, min(0.0, 1.1 * lowest)), min(_HIGHEST, max(1.0, highest)) + 0.08)
    axes.set_yticks([step / 5 for step in range(6)])
    axes.yaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
