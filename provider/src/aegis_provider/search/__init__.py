"""Configurations found, not typed: the lattice of a plan's maskings, searched with monotone pruning.

found = find_configurations(Path("health.csv"), plan, Requirement({"k": 5, "l": 2}, suppress_at_most=0.01))
"""

from aegis_provider.search.finding import Found, find_configurations
from aegis_provider.search.requirement import Requirement

__all__ = ["Found", "Requirement", "find_configurations"]
