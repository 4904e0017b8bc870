"""What the figures have in common: a panel for each table, a style for each release, numbers with their intervals."""

from collections.abc import Sequence
from textwrap import fill
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from aegis_provider.check import Interval
from research.generation import releases
from research.generation.measured import Measured
from research.plots import COLOURS, MARKERS

RELEASES: Final = (
    releases.ORIGINAL,
    *releases.WGAN,
    *releases.QUICK,
    *releases.MASKED,
)
LINE: Final = 120
STYLES: Final[dict[str, dict[str, Any]]] = {
    name: {"color": colour, "marker": marker} for name, colour, marker in zip(RELEASES, COLOURS, MARKERS, strict=False)
}


def panels(results: Sequence[Measured], height: float = 4.0) -> tuple[Figure, list[Axes]]:
    """Return a figure with a panel for each table, side by side, with the tables' names above."""
    figure = Figure(figsize=(4.6 * max(2, len(results)), height), layout="constrained")
    grid = list(figure.subplots(1, len(results), squeeze=False)[0])
    for axes, each in zip(grid, results, strict=True):
        axes.set_title(each.table.name, fontsize=10)
    return figure, grid


def legend(figure: Figure, axes: Axes, columns: int = 3) -> None:
    """Show one legend for all panels, above them."""
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=columns, fontsize="small", frameon=False)


def errors(intervals: Sequence[Interval]) -> NDArray[np.float64]:
    """(2, intervals) Return how far the limits are below and above the values."""
    return np.array([[each.value - each.low, each.high - each.value] for each in intervals]).T


def limits(interval: Interval, digits: int = 3) -> str:
    """Format a number with its 95 % interval."""
    value, low, high = (
        f"{round(each, digits) + 0.0:.{digits}f}" for each in (interval.value, interval.low, interval.high)
    )
    return f"{value} ({low} to {high})"


def sentence(text: str) -> str:
    """Return a text in one line."""
    return " ".join(text.split())


def paragraph(text: str) -> str:
    """Return a text in lines as long as those of other documents."""
    return fill(sentence(text), LINE, break_long_words=False, break_on_hyphens=False)


def listed(names: Sequence[str]) -> str:
    """Join names as in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
