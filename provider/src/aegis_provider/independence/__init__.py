"""Attributes made independent of others, with the fewest masked values (Tao et al. 2010)."""

from aegis_provider.independence.association import Association, associations
from aegis_provider.independence.clustered_table import Cluster
from aegis_provider.independence.clustering import Extent
from aegis_provider.independence.grouping import SOLVERS, Solver
from aegis_provider.independence.hidden_table import STAR, Hidden, hide

__all__ = ["SOLVERS", "STAR", "Association", "Cluster", "Extent", "Hidden", "Solver", "associations", "hide"]
