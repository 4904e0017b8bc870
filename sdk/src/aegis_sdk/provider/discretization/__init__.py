"""Continuous attributes in bins: the rules that a plan names, and what each makes of a table."""

from aegis_sdk.provider.discretization.bins import Bins, CutBins, EvenBins
from aegis_sdk.provider.discretization.masking import ends_of, mask_bins
from aegis_sdk.provider.discretization.reading import Binned
from aegis_sdk.provider.discretization.rules import Edges, EqualFrequency, EqualWidth, FreedmanDiaconis, Rule
from aegis_sdk.provider.discretization.survey import discretized

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
    "ends_of",
    "mask_bins",
]
