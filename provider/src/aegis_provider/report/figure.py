"""Figures as SVG to stand within a page."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO

import matplotlib as mpl
from matplotlib.figure import Figure

_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))


@contextmanager
def drawing() -> Iterator[None]:
    """The style of all figures; draw within it, and turn the figure into SVG or a file there too."""
    style = mpl.rc_context(
        {
            "axes.axisbelow": True,
            "axes.grid": True,
            "axes.spines.right": False,
            "axes.spines.top": False,
            "figure.constrained_layout.use": True,
            "font.size": 9,
            "grid.color": "#dddddd",
            "svg.fonttype": "none",
            # The same figure gives the same file.
            "svg.hashsalt": "aegis",
            # A name such as `$x$` is a name, not mathematics.
            "text.parse_math": False,
        }
    )
    with style:
        yield


def legend_above(figure: Figure, columns: int = 2) -> None:
    """The legend of the figure's first axes, above them, where no bar and no line can be."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=columns, frameon=False)


def figure_svg(figure: Figure) -> str:
    """The figure as an `<svg>` element: texts stay texts, escaped."""
    file = StringIO()
    figure.savefig(file, format="svg", metadata=_NO_METADATA)
    svg = file.getvalue()
    # Nothing refers to a group, and the other ids are digests of what they name: a page may hold several figures.
    return re.sub(r'<g id="[^"]*"', "<g", svg[svg.index("<svg") :])
