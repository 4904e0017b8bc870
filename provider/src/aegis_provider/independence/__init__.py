"""Independence masking: makes attributes independent of others while masking few values (Tao et al. 2010)."""

from aegis_provider.independence.clustered_table import Cluster, Extent
from aegis_provider.independence.grouping import SOLVERS, Solver
from aegis_provider.independence.hiding import STAR, Association, Hidden, associations, hide

__all__ = ["SOLVERS", "STAR", "Association", "Cluster", "Extent", "Hidden", "Solver", "associations", "hide"]
