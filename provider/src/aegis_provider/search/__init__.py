"""Search of the lattice of a plan's maskings, with monotone pruning, for configurations that meet a requirement.

result = find_configurations(Path("health.csv"), plan, Requirement({"k": 5, "l": 2}, suppress_at_most=0.01))
"""

from aegis_provider.search.configurations import Requirement, SearchResult, find_configurations

__all__ = ["Requirement", "SearchResult", "find_configurations"]
