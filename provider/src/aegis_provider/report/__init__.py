"""Reports for people: one model of a report, rendered as text and as an HTML page, and the figures on it.

`report.page`, `report.charts` and `report.plots` draw. They need the extra `plots` (jinja2, matplotlib), so they are
imported only when asked for.
"""
