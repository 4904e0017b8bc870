"""Measures of a joint table, each a small function with its gradient and ceiling, and their registry."""

from aegis_advisor.measures.held_out import held_out_share
from aegis_advisor.measures.information import mutual_information
from aegis_advisor.measures.measure import Ceiling, Guarantee, Measure
from aegis_advisor.measures.registry import MEASURES, OFFERED, TIE_BREAK, measure_named, utility_ceilings

__all__ = [
    "MEASURES",
    "OFFERED",
    "TIE_BREAK",
    "Ceiling",
    "Guarantee",
    "Measure",
    "held_out_share",
    "measure_named",
    "mutual_information",
    "utility_ceilings",
]
