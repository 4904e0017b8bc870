"""Figures of an entry and of an advice about it, as matplotlib's `Figure`.

    frontier(entry, advice, "k").savefig("frontier.png", dpi=150)
    write_page(Path("plot.html"), entry, advice)

Needs the extra `plots` (jinja2, matplotlib), so nothing else of the provider part imports it when it loads. Everything
raised here is a `PlotError`, whose text is one line.
"""

from aegis_provider.errors import PlotError
from aegis_provider.plots.costs import costs
from aegis_provider.plots.frontier import frontier
from aegis_provider.plots.hasse import lattice
from aegis_provider.plots.page import drawable, page
from aegis_provider.plots.pareto import Scored, best_promise, pareto, scored
from aegis_provider.plots.writing import write_image, write_page
from aegis_provider.report.figure import drawing

__all__ = [
    "PlotError",
    "Scored",
    "best_promise",
    "costs",
    "drawable",
    "drawing",
    "frontier",
    "lattice",
    "page",
    "pareto",
    "scored",
    "write_image",
    "write_page",
]
