"""Which differences are real: standard errors, where the records are a sample of as many from a population.

By the delta method: a utility moves with the sample as the mean of its influence function does (van der Vaart 1998,
"Asymptotic statistics", chapters 3 and 20). Reconstruction errors are no part of it.
"""

from aegis_advisor.sampling.configurations import CONFIDENCE, indistinguishable, standard_errors
from aegis_advisor.sampling.differences import Errors, difference_errors, utility_errors
from aegis_advisor.sampling.influence import Influence, Sample, influences

__all__ = [
    "CONFIDENCE",
    "Errors",
    "Influence",
    "Sample",
    "difference_errors",
    "indistinguishable",
    "influences",
    "standard_errors",
    "utility_errors",
]
