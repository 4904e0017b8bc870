"""The section on size: four panels of accuracy and four of seconds."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from research.papers.accuracy import GOLD, OURS
from research.papers.growth import (
    BY_JOINT,
    BY_MI,
    EXHAUSTIVE,
    FOLLOWED,
    FOREST,
    Point,
    Size,
    drift,
    rows,
    slopes,
    speeds,
)
from research.papers.page import linked, shown
from research.plots import COLOURS, MARKERS
from research.report import Section, table, with_interval

QUALITY, TIME, EACH = "growth-quality.svg", "growth-time.svg", "growth.csv"


def section(points: Mapping[str, Sequence[Point]], base: Size) -> Section:
    """Make the section on size."""
    exponents = slopes(points)
    lines = [
        [
            axis,
            f"{getattr(line[0].size, axis):,} to {getattr(line[-1].size, axis):,}",
            with_interval(drift(line, OURS), 3),
            with_interval(drift(line, "MI"), 3),
            f"{line[0].distances['1D']:.3f}, {line[-1].distances['1D']:.3f}",
            f"{exponents[axis, BY_MI]:.2f}",
            f"{exponents[axis, BY_JOINT]:.2f}",
        ]
        for axis, line in points.items()
    ]
    columns = ["axis", "from, to", "behind: joint", "behind: MI", "distance: first, last"]
    text = f"""\
Tables are made up: {base.attributes} uniform attributes of {base.domain} values and falling strength,
{base.records:,} records, {base.configurations} configurations, unless that grows. What they tell about the label stays
the same. **Exhaustive** trains on half of the records for every configuration: logistic regression in full, a random
forest from the median of three configurations; [cost](evaluation.md#what-it-costs-to-choose) has larger tables.
Accuracy is that of logistic regression. Advice is reconstruction and ranking; the provider's counting is beside it.
{linked(EACH, "All figures")}.

{shown(QUALITY, "Accuracy of gold and the picks against records, attributes, configurations and domain size")}

{shown(TIME, "Seconds against the same, exhaustive training beside advice")}

*Behind* is how much more accuracy a pick is behind gold at the last size than at the first; *distance* is that of the
reconstruction with histograms. The last two columns are the exponents of time (1 is linear).

{table([*columns, "time, MI", "time, joint"], lines)}"""
    cheapest, forest = (speeds(points, step) for step in (EXHAUSTIVE, FOREST))
    finding = (
        f"**Size**: training on every configuration takes {min(forest):,.0f} to {max(forest):,.0f} times as long as"
        f" advice (the slower of mutual information and `joint`) for a random forest, {min(cheapest):,.1f} to"
        f" {max(cheapest):,.0f} times for logistic regression, in one run."
    )
    return Section(
        "000, figures 5(c) and 5(d), and 003, sections 7.4 and 7.6: size",
        text,
        {QUALITY: _plot(points, _accuracy, (GOLD, *FOLLOWED), "accuracy"), TIME: _plot_time(points)},
        [finding],
        details={EACH: rows(points)},
    )


def _accuracy(point: Point, title: str) -> float:
    return float(np.mean(point.accuracy[title]))


def _plot_time(points: Mapping[str, Sequence[Point]]) -> Figure:
    steps = (EXHAUSTIVE, FOREST, BY_MI, BY_JOINT, "counting", "Mascara", "sampling")
    figure = _plot(points, lambda point, step: point.seconds[step], steps, "seconds")
    for axes in figure.axes:
        axes.set_yscale("log")
    return figure


def _plot(
    points: Mapping[str, Sequence[Point]], value: Callable[[Point, str], float], series: Sequence[str], up: str
) -> Figure:
    """Plot a panel for each axis, with a line for each of the series; smaller marks are drawn within larger ones."""
    figure = Figure(figsize=(8, 5.4), layout="constrained")
    grid = figure.subplots(2, 2, sharey=True).ravel()
    for axes, (axis, line) in zip(grid, points.items(), strict=True):
        sizes = [getattr(point.size, axis) for point in line]
        for place, name in enumerate(series):
            values = [value(point, name) for point in line]
            style = {"color": COLOURS[place], "marker": MARKERS[place], "markersize": 9 - place, "fillstyle": "none"}
            axes.plot(sizes, values, label=name, linewidth=1, **style)
        axes.set_xscale("log")
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axes.minorticks_off()
        axes.tick_params(labelsize=8)
        axes.set_xlabel(axis if axis != "domain" else "domain size", fontsize=8)
    for axes in grid[::2]:
        axes.set_ylabel(up, fontsize=8)
    handles, names = grid[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=4, fontsize="small", frameon=False)
    return figure
