"""Charts: typed descriptions with a table each, drawn as SVG by one renderer.

`rendered` gives HTML for a page that has `style`; `document` gives an SVG file.
"""

from aegis_sdk.charts.bars import Bar, Bars, Group, category_bars
from aegis_sdk.charts.drawing import BAD, GOOD, NEUTRAL, OTHER, TONES, Cell, Chart, Column, Drawing, Markup, Table, Tone
from aegis_sdk.charts.frontier import Frontier
from aegis_sdk.charts.plane import Measured, Plane, Series, Spot
from aegis_sdk.charts.plot import Axis, Interval
from aegis_sdk.charts.points import Point
from aegis_sdk.charts.rendering import document, rendered, style
from aegis_sdk.charts.series_bars import Lengths, SeriesBars

__all__ = [
    "BAD",
    "GOOD",
    "NEUTRAL",
    "OTHER",
    "TONES",
    "Axis",
    "Bar",
    "Bars",
    "Cell",
    "Chart",
    "Column",
    "Drawing",
    "Frontier",
    "Group",
    "Interval",
    "Lengths",
    "Markup",
    "Measured",
    "Plane",
    "Point",
    "Series",
    "SeriesBars",
    "Spot",
    "Table",
    "Tone",
    "category_bars",
    "document",
    "rendered",
    "style",
]
