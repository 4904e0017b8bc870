"""Pages that a person reads without the tool: one HTML file each, with its plots inside.

    with drawing():
        figure = Figure(figsize=(7, 3))
        ...
        plot = Plot(figure_svg(figure), "Records by the size of their equivalence class")
    page = render_page("Privacy of health.csv", [Section("At a glance", ("One sentence.", plot))])

Needs the extra `plots` (jinja2, matplotlib), so nothing else of the provider part imports it when it loads.
"""

from aegis_provider.report.figure import drawing, figure_svg, legend_above
from aegis_provider.report.page import Part, Plot, Section, Terms, TextTable, render_page

__all__ = ["Part", "Plot", "Section", "Terms", "TextTable", "drawing", "figure_svg", "legend_above", "render_page"]
