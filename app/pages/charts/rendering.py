"""Charts as HTML with SVG in it: no script and no inline style, every text escaped."""

from pathlib import Path
from typing import Final, TypeAlias

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from app.pages.charts.bars import Bars
from app.pages.charts.frontier import HEIGHT, TOP, Frontier
from app.pages.charts.text import fit

Chart: TypeAlias = Frontier | Bars
"""What can be rendered."""

_TEMPLATES: Final = Environment(
    loader=FileSystemLoader(Path(__file__).parents[1] / "templates" / "charts"),
    autoescape=True,
    auto_reload=False,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=StrictUndefined,
)
_TEMPLATES.filters["fit"] = fit


def rendered(chart: Chart) -> Markup:
    """The chart with its legend, its notes and its table, as a `<figure>`."""
    template = _TEMPLATES.get_template(f"{chart.template}.html")
    return Markup(template.render(chart=chart, height=HEIGHT, top=TOP))  # noqa: S704 - its template escapes texts
