"""What a person reads: one model of a report, rendered as text and as a page of HTML, and the figures on it.

All that draws needs the extra `plots` (jinja2, matplotlib), so nothing of it is imported before it is asked for:
`report.page`, `report.charts` and `report.plots`.
"""
