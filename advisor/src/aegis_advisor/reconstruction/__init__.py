"""One reference table for each attribute, from all its masked views."""

from aegis_advisor.reconstruction.ipf import IterativeProportionalFitting
from aegis_advisor.reconstruction.newton import DualNewton
from aegis_advisor.reconstruction.reference import SOLVER, fit, reconstruct
from aegis_advisor.reconstruction.solution import Certificate, Misfit, Reference, Solver

__all__ = [
    "SOLVER",
    "Certificate",
    "DualNewton",
    "IterativeProportionalFitting",
    "Misfit",
    "Reference",
    "Solver",
    "fit",
    "reconstruct",
]
