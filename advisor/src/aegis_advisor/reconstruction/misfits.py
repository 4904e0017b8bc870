"""How far a table is from the counts of each view."""

from aegis_advisor.arrays import FloatArray
from aegis_advisor.evidence import AttributeEvidence
from aegis_advisor.reconstruction.alone import counts_of, fitted_alone, restored
from aegis_advisor.reconstruction.problem import Problem
from aegis_advisor.reconstruction.solution import Misfit


def find_misfits(
    evidence: AttributeEvidence, problem: Problem, table: FloatArray, *, with_exact: bool
) -> dict[str, Misfit]:
    """The misfit of each view that is not exact, and of the others `with_exact`, by masking.

    Args:
        problem: the one that the table (atoms, labels) is to solve; its first margin is the label's histogram.
    """
    found = {}
    for masking, margin in zip(evidence.traceable, problem.margins[1:], strict=True):
        if with_exact or not margin.is_exact:
            found[masking.id] = Misfit.of(margin.of(table) - margin.counts, margin.variance, problem.records)
    for masking in evidence.maskings:
        if masking.is_fitted and not masking.is_traceable:
            counts, variance = restored(masking, counts_of(masking), evidence)
            found[masking.id] = Misfit.of(fitted_alone(masking, evidence) - counts, variance, problem.records)
    return found
