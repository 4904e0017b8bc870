"""Charts of the console, drawn on the server as SVG, each with its table. No page, no database: data in, HTML out."""

from app.pages.charts.axis import Axis, Interval
from app.pages.charts.bars import Bar, Bars, Group
from app.pages.charts.categories import category_bars
from app.pages.charts.frontier import Frontier
from app.pages.charts.numbers import number, percent
from app.pages.charts.points import Point
from app.pages.charts.rendering import Chart, rendered
from app.pages.charts.table import Cell, Column, Table

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
