"""Measures of a joint table, one small function each with its gradient, and their registry."""

from aegis_advisor.measures.information import mutual_information
from aegis_advisor.measures.measure import Guarantee, Measure
from aegis_advisor.measures.registry import MEASURES, measure_named

__all__ = ["MEASURES", "Guarantee", "Measure", "measure_named", "mutual_information"]
