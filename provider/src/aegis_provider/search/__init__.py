"""Search of the lattice of a plan's maskings for the configurations that meet requirements with the most utility.

result = find_configurations(Path("health.csv"), plan, Requirement({"k": 5, "l": 2}, suppress_at_most=0.01))
result.frontier[0].configuration  # the best
"""

from aegis_provider.search.again import measure_again
from aegis_provider.search.budget import EFFORTS
from aegis_provider.search.configurations import (
    FrontierPoint,
    LimitsCost,
    SearchResult,
    choose_again,
    find_configurations,
)
from aegis_provider.search.problem import Requirement, in_words

__all__ = [
    "EFFORTS",
    "FrontierPoint",
    "LimitsCost",
    "Requirement",
    "SearchResult",
    "choose_again",
    "find_configurations",
    "in_words",
    "measure_again",
]
