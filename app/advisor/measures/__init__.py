"""Measures of a joint table, one small function each with its gradient, and their registry."""

from app.advisor.measures.information import mutual_information
from app.advisor.measures.measure import Guarantee, Measure
from app.advisor.measures.registry import MEASURES, measure_named

__all__ = ["MEASURES", "Guarantee", "Measure", "measure_named", "mutual_information"]
