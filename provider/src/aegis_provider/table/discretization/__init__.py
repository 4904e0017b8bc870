"""Discretization of continuous attributes: the rules in a plan, and their bins for a table."""

from aegis_provider.table.discretization.bins import Binned, Bins, CutBins, EvenBins, is_number, number_of, plain_key
from aegis_provider.table.discretization.rules import (
    Edges,
    EqualFrequency,
    EqualWidth,
    FreedmanDiaconis,
    Rule,
    roundest_above,
)
from aegis_provider.table.discretization.survey import discretized, undiscretized

__all__ = [
    "Binned",
    "Bins",
    "CutBins",
    "Edges",
    "EqualFrequency",
    "EqualWidth",
    "EvenBins",
    "FreedmanDiaconis",
    "Rule",
    "discretized",
    "is_number",
    "number_of",
    "plain_key",
    "roundest_above",
    "undiscretized",
]
