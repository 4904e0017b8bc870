"""A report as a page of plain HTML: no script, nothing loaded, every text escaped, and its figures inside as SVG.

    with drawing():
        figure = Figure(figsize=(7, 3))
        ...
        plot = Plot(figure_svg(figure), "Records by the size of their equivalence class")
    page = render_page(Report("Privacy of health.csv", ["One sentence."], [Section("Classes", [plot])]))

Needs the extra `plots` (jinja2, matplotlib).
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

import matplotlib as mpl
import matplotlib.figure as mpl_figure
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from aegis_provider.output import written_whole
from aegis_provider.report.charts import drawn
from aegis_provider.report.model import Figure, Plot, Report, Terms, TextTable
from aegis_sdk.printable import Share

_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))


@contextmanager
def drawing() -> Iterator[None]:
    """Set the style of all figures. Draw them, and turn them into SVG or files, within this context."""
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


def figure_svg(figure: mpl_figure.Figure) -> str:
    """Return the figure as an `<svg>` element in which texts stay texts, escaped."""
    file = StringIO()
    figure.savefig(file, format="svg", metadata=_NO_METADATA)
    svg = file.getvalue()
    # A page may have several figures, so ids must differ. Nothing refers to the ids of groups, and all other ids are
    # digests of what they name.
    return re.sub(r'<g id="[^"]*"', "<g", svg[svg.index("<svg") :])


def write_page(path: Path, report: Report) -> None:
    """Write the report as one HTML file, whole or not at all.

    Raises:
        OutputError: The file cannot be written.
    """
    with written_whole(path) as part:
        part.write_text(render_page(report), encoding="utf-8")


def render_page(report: Report) -> str:
    """Return the page as one self-contained HTML document in UTF-8; fractions have up to four significant digits."""
    folder = FileSystemLoader(Path(__file__).parent)
    environment = Environment(loader=folder, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters |= {"cell": _cell, "as_svg": _as_svg}
    environment.tests |= {
        "number": lambda cell: not isinstance(cell, str),
        "table": lambda part: isinstance(part, TextTable),
        "terms": lambda part: isinstance(part, Terms),
        "figure": lambda part: isinstance(part, Figure),
    }
    return environment.get_template("page.html.jinja").render(report=report)


def _as_svg(figure: Figure) -> Markup:
    if isinstance(figure, Plot):
        svg = figure.svg
    else:
        with drawing():
            svg = figure_svg(drawn(figure))
    # The only text that is not escaped here, because matplotlib escapes what it writes.
    return Markup(svg)  # noqa: S704 - see above


def _cell(cell: str | float) -> str:
    if isinstance(cell, str | Share):
        return str(cell)
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:.4g}"
