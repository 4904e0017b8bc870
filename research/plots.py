"""Plots of the evaluation."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import AutoLocator

from aegis_advisor.arrays import FloatArray
from research.losses import Estimate
from research.report import figure_of

#: Colours that people of any colour vision can distinguish (Okabe & Ito 2008).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999", "#F0E442")
MARKERS = "osD^vP*X<>"
INCH = 0.42
"""The height of a row of a plot."""


def whole_numbers() -> AutoLocator:
    """The usual ticks of an axis, but at whole numbers only."""
    ticks = AutoLocator()
    ticks.set_params(integer=True)
    return ticks


def dots(rows: Sequence[str], series: Mapping[str, Sequence[Estimate]], axis: str, ends: Sequence[int] = ()) -> Figure:
    """Plot a row for each name, a dot with its interval for each series, and a line below the rows at `ends`."""
    figure = Figure(figsize=(8, 1.6 + INCH * len(rows)), layout="constrained")
    axes = figure.subplots()
    step = 0.7 / max(len(series), 1)
    for place, (name, estimates) in enumerate(series.items()):
        heights = np.arange(len(rows)) + (place - (len(series) - 1) / 2) * step
        means, errors = [each.mean for each in estimates], [each.half_width for each in estimates]
        axes.errorbar(means, heights, xerr=errors, label=name, linestyle="none", markersize=4, **_style(place))
    for place in range(0, len(rows), 2):
        axes.axhspan(place - 0.5, place + 0.5, color="#f2f2f2", zorder=0)
    for place in ends:
        axes.axhline(place + 0.5, color="black", linewidth=0.6)
    axes.set_yticks(range(len(rows)), rows)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel(axis)
    axes.axvline(0, color="black", linewidth=0.6)
    figure.legend(loc="outside upper center", ncols=4, fontsize="small", frameon=False)
    return figure


def scatters(
    rows: Sequence[str],
    columns: Sequence[str],
    points: Mapping[tuple[str, str], tuple[FloatArray, FloatArray]],
    up: str,
) -> Figure:
    """Plot a grid of small plots: `points` has the x and y values by row and column."""
    figure = Figure(figsize=(1.5 * len(columns) + 0.6, 1.5 * len(rows) + 0.5), layout="constrained")
    grid = figure.subplots(len(rows), len(columns), squeeze=False, sharey="row")
    for row, line in zip(rows, grid, strict=True):
        for column, axes in zip(columns, line, strict=True):
            axes.plot(*points[row, column], "o", markersize=3, alpha=0.7, color=COLOURS[0])
            axes.set_xticks([])
            axes.tick_params(labelsize=7)
        line[0].set_ylabel(f"{row}\n{up}", fontsize=8)
    for column, axes in zip(columns, grid[0], strict=True):
        axes.set_title(column.replace(": ", ":\n"), fontsize=8)
    figure.supxlabel("utility by the ranker, higher to the right", fontsize=8)
    return figure


def heat_map(rows: Sequence[str], columns: Sequence[str], values: FloatArray) -> Figure:
    """Plot correlations (rows, columns), from -1 to 1, each with its number."""
    figure = Figure(figsize=(0.75 * len(columns) + 2.6, 0.25 * len(rows) + 1.8), layout="constrained")
    axes = figure.subplots()
    shown = axes.imshow(values, cmap="RdBu", vmin=-1, vmax=1, aspect="auto")
    axes.set_xticks(range(len(columns)), columns, rotation=35, ha="right", fontsize=9)
    axes.set_yticks(range(len(rows)), rows, fontsize=9)
    for (row, column), value in np.ndenumerate(values):
        colour = "white" if abs(value) > 0.6 else "black"
        axes.text(
            column, row, figure_of(value, 2).replace("0.", "."), ha="center", va="center", fontsize=8, color=colour
        )
    figure.colorbar(shown, ax=axes, shrink=0.6)
    return figure


def turns(
    panels: Mapping[str, Mapping[str, Sequence[Estimate]]], ticks: Mapping[str, Sequence[str]], up: str
) -> Figure:
    """Plot a panel for each varied property: `panels` has an estimate per level, by property and series."""
    figure = Figure(figsize=(8, 6.4), layout="constrained")
    grid = figure.subplots(2, -(-len(panels) // 2), squeeze=False).ravel()
    for axes, (title, series) in zip(grid, panels.items(), strict=False):
        for place, (name, estimates) in enumerate(series.items()):
            means, errors = [each.mean for each in estimates], [each.half_width for each in estimates]
            axes.errorbar(range(len(means)), means, yerr=errors, label=name, linewidth=1, markersize=4, **_style(place))
        axes.set_title(title, fontsize=9)
        axes.set_xticks(range(len(ticks[title])), ticks[title], fontsize=8)
        axes.set_ylabel(up, fontsize=8)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    _one_legend(figure, grid[0])
    return figure


def _one_legend(figure: Figure, axes: Axes) -> None:
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=4, fontsize="small", frameon=False)


def _style(place: int) -> dict[str, Any]:
    return {
        "color": COLOURS[place % len(COLOURS)],
        "marker": MARKERS[place % len(MARKERS)],
        "elinewidth": 0.8,
        "alpha": 0.85,
    }
