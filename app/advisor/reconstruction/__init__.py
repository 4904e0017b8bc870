"""One reference joint per attribute, from all its masked views together (model, section 4)."""

import math
from typing import get_args

import numpy as np
from scipy.special import entr

from app.advisor.arrays import FloatArray
from app.advisor.atoms import AtomStatistics, common_refinement
from app.advisor.bounds import utility_ceilings
from app.advisor.evidence import AttributeEvidence
from app.advisor.measures import mutual_information
from app.advisor.reconstruction.closed_form import share_out
from app.advisor.reconstruction.components import divide, essential, restrict, split, without_empty_atoms
from app.advisor.reconstruction.consecutive import with_runs_joined
from app.advisor.reconstruction.determined import only_table
from app.advisor.reconstruction.ipf import IterativeProportionalFitting
from app.advisor.reconstruction.newton import DualNewton
from app.advisor.reconstruction.problem import Problem
from app.advisor.reconstruction.solution import Certificate, Method, Reference, Solution, Solver, divergence

__all__ = [
    "SOLVER",
    "Certificate",
    "DualNewton",
    "IterativeProportionalFitting",
    "Reference",
    "Solver",
    "reconstruct",
]

SOLVER = DualNewton()
"""Solves what has no closed form. The one place where it is chosen."""


def reconstruct(evidence: AttributeEvidence, solver: Solver = SOLVER) -> Reference:
    """Reconstruct the joint counts of an attribute and the label.

    The table that is closest to uniform (KL divergence) among those that fit all mapped counts, the label's
    histogram and, in variant I, the attribute's: the paper's section 4.2, with all views together. If the
    unmasked counts are given, it is exactly they. Values that no mapping tells apart share an atom.

    Args:
        evidence: without faults (`find_faults`); views may still contradict each other in threes, then
            the certificate says that nothing converged.
        solver: for the parts where views overlap without nesting.
    """
    if evidence.joint is not None:
        return _given(evidence, evidence.joint.astype(np.float64))
    mappings = [masking.mapping for masking in evidence.maskings if masking.mapping is not None]
    atom_of_value = common_refinement(mappings, evidence.values)
    atoms = int(atom_of_value.max()) + 1
    problem = Problem.of(evidence, atom_of_value, atoms)
    solution = _solve(problem, solver)
    residual = problem.residual(solution.table)
    certificate = Certificate(
        method=solution.method,
        atoms=atoms,
        iterations=solution.iterations,
        residual=residual,
        converged=residual <= solver.tolerance,
    )
    if evidence.histogram is None:
        statistics = AtomStatistics.uniform(atom_of_value, solution.table.sum(axis=1))
    else:
        statistics = AtomStatistics.counted(atom_of_value, atoms, evidence.histogram)
    bound = _information_bound(problem, solution)
    return Reference(atom_of_value, solution.table, statistics, bound, certificate, utility_ceilings(evidence))


def _given(evidence: AttributeEvidence, joint: FloatArray) -> Reference:
    """The unmasked counts as a reference: every value is an atom."""
    atom_of_value = np.arange(evidence.values, dtype=np.int32)
    residual = Problem.of(evidence, atom_of_value, evidence.values).residual(joint)
    return Reference(
        atom_of_value,
        joint,
        AtomStatistics.uniform(atom_of_value, joint.sum(axis=1)),
        mutual_information(joint),
        Certificate("given", evidence.values, 0, residual, residual == 0.0),
    )


def _solve(problem: Problem, solver: Solver) -> Solution:
    """Solve each part by itself: all that are a single group in closed form, by the solver otherwise."""
    table = np.zeros((problem.prior.size, problem.labels))
    held = without_empty_atoms(problem)
    if not held.size:
        return Solution("closed_form", table, 0, 0.0)
    problem = essential(with_runs_joined(restrict(problem, held)))
    alone, parts = split(problem)
    nested = restrict(problem, alone)
    for margin in nested.margins:
        table[held[alone[margin.atoms]]] = share_out(margin, nested.prior)
    method: Method = "closed_form"
    iterations, least = 0, divergence(table[held[alone]], nested.start())
    for atoms, part in zip(parts, divide(problem, parts), strict=True):
        solution = _solve_part(part, solver)
        table[held[atoms]] = solution.table
        method = max(method, solution.method, key=get_args(Method).index)
        iterations = max(iterations, solution.iterations)
        least += solution.divergence
    return Solution(method, table, iterations, least)


def _solve_part(part: Problem, solver: Solver) -> Solution:
    table = only_table(part)
    if table is None:
        return solver.solve(part)
    return Solution("closed_form", table, 0, divergence(table, part.start()))


def _information_bound(problem: Problem, solution: Solution) -> float | None:
    """The least mutual information, in bits, of any table that fits (variant I).

    With the rows known, `I = H(Y) - ln(labels) + KL(F || prior) / N`, and any value of the dual is below the
    divergence of every table that fits: unlike the iterate's own information, this holds at any residual.
    """
    if problem.rows is None:
        return None
    found = mutual_information(solution.table)
    if solution.iterations == 0 or problem.records == 0:
        return found
    label = problem.margins[0].counts[0] / problem.records
    nats = float(entr(label).sum()) - math.log(problem.labels) + solution.divergence / problem.records
    return max(0.0, min(found, nats / math.log(2)))
