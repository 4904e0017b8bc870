"""Drawing of the charts of any report. Needs the extra `plots` (matplotlib)."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter, StrMethodFormatter

from aegis_provider.report.model import Bars, Curves
from aegis_sdk.printable import Share
from aegis_sdk.reading import shown

_LONGEST_NAME = 50
_WIDTH = 7.2
_SHORT = 28


def drawn(chart: Bars | Curves) -> Figure:
    """Draw the chart; call this within `page.drawing`."""
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
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
    legend_above(figure)
    return figure
