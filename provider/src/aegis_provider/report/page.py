"""A report as a page of plain HTML: no script, nothing loaded, every text escaped, and its figures inside as SVG.

    with drawing():
        figure = Figure(figsize=(7, 3))
        ...
        plot = Plot(figure_svg(figure), "Records by the size of their equivalence class")
    page = render_page("Privacy of health.csv", [Section("At a glance", ("One sentence.", plot))])

Needs the extra `plots` (jinja2, matplotlib).
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

import matplotlib as mpl
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from matplotlib.figure import Figure

from aegis_provider.report.model import Plot, Section, Terms, TextTable

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


def render_page(title: str, sections: Sequence[Section]) -> str:
    """The page as one self-contained HTML document in UTF-8; fractions have at most four significant digits."""
    folder = FileSystemLoader(Path(__file__).parent)
    environment = Environment(loader=folder, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters["cell"] = _cell
    environment.tests |= {
        "number": lambda cell: not isinstance(cell, str),
        "table": lambda part: isinstance(part, TextTable),
        "terms": lambda part: isinstance(part, Terms),
        "plot": lambda part: isinstance(part, Plot),
    }
    environment.filters["as_svg"] = _as_svg
    return environment.get_template("page.html.jinja").render(title=title, sections=sections)


def _as_svg(plot: Plot) -> Markup:
    # The one text that is not escaped: matplotlib escapes what it writes.
    return Markup(plot.svg)  # noqa: S704 - see above


def _cell(cell: str | float) -> str:
    if isinstance(cell, str):
        return cell
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:.4g}"
