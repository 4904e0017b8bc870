"""What the figures have in common: colours, words on axes, and how much of an entry they show."""

from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from aegis_provider.errors import PlotError
from aegis_provider.privacy import CRITERIA
from aegis_sdk.reading import shown
from aegis_sdk.wire import Advice, Attribute

# Colours that people with any colour vision can tell apart (Okabe & Ito 2008).
BLUE, VERMILION, GREY, INK = "#0072B2", "#D55E00", "#9a9a9a", "#1a1a1a"
PALE = "#e9edf2"

MOST_ATTRIBUTES = 24
MOST_MASKINGS = 24
LONGEST_NAME = 32
_VAST = 1e100
_POINTS_PER_INCH = 72


def text_width(text: str, points: float, *, bold: bool = False) -> float:
    """Return the width of a text in inches, by the control points of its outline: never too little."""
    if not text:
        return 0.0
    font = FontProperties(weight="bold" if bold else "normal")
    outline = TextPath((0, 0), text, size=points, prop=font).vertices[:, 0]
    return float(np.ptp(outline)) / _POINTS_PER_INCH if len(outline) else 0.0


def privacy_of(name: str) -> str:
    """Return what the criterion means, and whether more or less of it is more private."""
    criterion = CRITERIA[name]
    return f"{criterion.axis} ({'more' if criterion.at_least else 'less'} is more private)"


def refuse_vast(numbers: Iterable[float]) -> None:
    """Reject numbers too large for an axis.

    Raises:
        PlotError: A number is too large.
    """
    for number in numbers:
        if abs(number) > _VAST:
            raise PlotError(f"{number:g} is too large to draw; was the file changed?")


def measure_of(advice: Advice, *, unit: bool = True) -> str:
    """Return the measure that was asked for, in words, with its unit."""
    measure = shown(str(advice.request.get("measure", "measure")).replace("_", " "), LONGEST_NAME)
    in_unit = advice.unit if advice.joint is None else "squared correlations"
    return f"{measure} ({in_unit})" if in_unit and unit else measure


def few(attributes: Sequence[Attribute]) -> list[Attribute]:
    """Return the first attributes and maskings, as many as a figure has room for."""
    return [
        each.model_copy(update={"maskings": each.maskings[:MOST_MASKINGS]}) for each in attributes[:MOST_ATTRIBUTES]
    ]


def left_out(attributes: Sequence[Attribute]) -> str:
    """Say what `few` leaves out; empty if it leaves out nothing."""
    limits = []
    if len(attributes) > MOST_ATTRIBUTES:
        limits.append(f"the first {MOST_ATTRIBUTES} of {len(attributes)} attributes")
    if any(len(each.maskings) > MOST_MASKINGS for each in attributes[:MOST_ATTRIBUTES]):
        limits.append(f"the first {MOST_MASKINGS} maskings of each")
    return f"shown: {', '.join(limits)}; name others with --attribute" if limits else ""


def entitle(figure: Figure, title: str, *notes: str) -> None:
    """Put a title above the whole figure, to the left, and the notes below the figure."""
    figure.suptitle(title, x=0.01, ha="left", fontsize=13, fontweight="bold", color=INK)
    note = "; ".join(filter(None, notes))
    if note:
        figure.supxlabel(note, x=0.01, ha="left", fontsize=9, color="#555555")


def legend_above(axes: Axes, handles: Sequence[Artist] | None = None) -> None:
    """Put the legend between the title and the axes, where nothing else is drawn."""
    chosen = axes.get_legend_handles_labels()[0] if handles is None else handles
    axes.legend(handles=chosen, loc="lower left", bbox_to_anchor=(0, 1), ncols=len(chosen), frameon=False, fontsize=9)


def quiet(axes: Axes) -> None:
    """Draw a light grid behind everything, with no more ink than needed."""
    axes.set_axisbelow(True)
    axes.tick_params(length=0, colors="#333333")
    for spine in axes.spines.values():
        spine.set_color("#bbbbbb")
