"""Independence masking: makes attributes independent of others while masking few values (Tao et al. 2010)."""

from aegis_provider.independence.association import associations
from aegis_provider.independence.grouping import SOLVERS, Solver
from aegis_provider.independence.hiding import hide
from aegis_provider.independence.model import STAR, Association, Cluster, Extent, Hidden

__all__ = ["SOLVERS", "STAR", "Association", "Cluster", "Extent", "Hidden", "Solver", "associations", "hide"]
