"""Figures of an entry and of an advice about it, as matplotlib's `Figure`.

    frontier(entry, advice, "k").savefig("frontier.png", dpi=150)
    write_page(Path("plot.html"), entry, advice)

Needs the extra `plots` (jinja2, matplotlib). Everything raised here is a `PlotError`, whose text is one line.
`report.figures` lists the figures.
"""

from aegis_provider.errors import PlotError
from aegis_provider.report.page import drawing
from aegis_provider.report.plots.costs import costs
from aegis_provider.report.plots.frontier import frontier
from aegis_provider.report.plots.hasse import lattice
from aegis_provider.report.plots.pareto import Scored, best_promise, pareto, scored
from aegis_provider.report.plots.writing import drawable, page, write_image, write_page

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
