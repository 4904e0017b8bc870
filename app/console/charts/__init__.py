"""Charts of the console, drawn on the server as SVG, each with its table. No page, no database: data in, HTML out."""

from app.console.charts.axis import Axis, Interval
from app.console.charts.bars import Bar, Bars, Group
from app.console.charts.categories import category_bars
from app.console.charts.frontier import Frontier
from app.console.charts.numbers import number, percent
from app.console.charts.points import Point
from app.console.charts.rendering import Chart, rendered
from app.console.charts.table import Cell, Column, Table

__all__ = [
    "Axis",
    "Bar",
    "Bars",
    "Cell",
    "Chart",
    "Column",
    "Frontier",
    "Group",
    "Interval",
    "Point",
    "Table",
    "category_bars",
    "number",
    "percent",
    "rendered",
]
