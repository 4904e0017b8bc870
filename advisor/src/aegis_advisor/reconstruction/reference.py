"""One reference table for each attribute, from all its masked views (`docs/model.md`)."""

import math
from dataclasses import replace
from typing import get_args

import numpy as np
import scipy

from aegis_advisor.arrays import AtomArray, FloatArray
from aegis_advisor.atoms import AtomStatistics, common_refinement
from aegis_advisor.evidence import AttributeEvidence
from aegis_advisor.measures import mutual_information, utility_ceilings
from aegis_advisor.reconstruction.decomposition import (
    divide,
    essential,
    restrict,
    split,
    with_labels_merged,
    with_runs_joined,
    without_empty_atoms,
)
from aegis_advisor.reconstruction.exact import share_out, unique_table
from aegis_advisor.reconstruction.ipf import VANISHED
from aegis_advisor.reconstruction.newton import DualNewton
from aegis_advisor.reconstruction.problem import Problem
from aegis_advisor.reconstruction.solution import (
    Certificate,
    Method,
    Reference,
    Solution,
    Solver,
    divergence,
    find_misfits,
)
from aegis_advisor.reconstruction.support import CLEAR, support

SOLVER = DualNewton()
"""The solver of problems without a closed form. This is its only choice."""

ROUNDING = 1e-12
"""The accuracy of a residual, over the number of records."""

CLOSED = 1e-12
"""The largest residual of a closed form due to rounding, over the number of records; beyond it, no table fits."""

FIT_TOLERANCE = 1e-7
"""The tolerance of inexact counts around their best fit, over the number of records; far below their standard
deviations."""

RECONSIDERED = 1
"""How many times the variances of random maskings are re-estimated from the last fit."""


def reconstruct(evidence: AttributeEvidence, solver: Solver = SOLVER) -> Reference:
    """Reconstruct the joint counts of an attribute and the label.

    The result is the table closest to uniform (KL divergence) among those that fit all mapped counts, the label's
    histogram and, in variant I, the attribute's histogram: the paper's section 4.2, with all views together. If the
    unmasked counts are given, it has exactly these. Values that no mapping separates share an atom. Views with
    declared inexact counts, and random maskings, are fitted as closely as their variance requires.

    Args:
        evidence: without faults (`find_faults`). Three or more views may still contradict each other; then the
            certificate reports that the fit did not converge, and the misfit of each view.
        solver: for the parts where views overlap without nesting.
    """
    if evidence.joint is not None:
        return _given(evidence, evidence.joint.astype(np.float64))
    atom_of_value, problem, solution = fit(evidence, solver)
    atoms = problem.prior.size
    table, support_known = _emptied(problem, solution)
    residual = problem.residual(table)
    converged = residual <= solver.tolerance and (problem.is_exact or solution.gap <= FIT_TOLERANCE)
    certificate = Certificate(
        method=solution.method,
        atoms=atoms,
        iterations=solution.iterations,
        residual=residual,
        converged=converged,
        misfits=find_misfits(evidence, problem, table, with_exact=not converged),
        support_known=support_known,
    )
    if evidence.histogram is None:
        statistics = AtomStatistics.uniform(atom_of_value, table.sum(axis=1))
    else:
        statistics = AtomStatistics.counted(atom_of_value, atoms, evidence.histogram)
    bound = _information_bound(problem, solution)
    refined = tuple(counts[counts.any(axis=1)] for _, counts in evidence.refined_views)
    return Reference(atom_of_value, table, statistics, bound, certificate, utility_ceilings(evidence), refined)


def fit(evidence: AttributeEvidence, solver: Solver = SOLVER) -> tuple[AtomArray, Problem, Solution]:
    """Return the atoms (values,) of an attribute without unmasked counts, its problem, and the fitted table.

    Unlike `reconstruct`, it determines neither the cells that must be empty nor bounds of the utility.
    """
    atom_of_value = common_refinement(evidence.partitions, evidence.values)
    atoms = int(atom_of_value.max()) + 1
    problem = Problem.of(evidence, atom_of_value, atoms)
    solution = _solve(problem, solver)
    for _ in range(RECONSIDERED if evidence.is_drawn else 0):
        problem = Problem.of(evidence, atom_of_value, atoms, solution.table)
        solution = _solve(problem, solver)
    return atom_of_value, problem, solution


def _emptied(problem: Problem, solution: Solution) -> tuple[FloatArray, bool]:
    """The table with 0 in all cells that must be empty, and whether these are certain."""
    if solution.method == "closed_form":
        return solution.table, problem.residual(solution.table) <= CLOSED
    allowed = problem.allowed() if solution.empty is None else problem.allowed() & ~solution.empty
    missed = max(problem.residual(solution.table), ROUNDING) * problem.records
    if problem.is_exact and solution.table[allowed].min(initial=np.inf) > CLEAR * missed:
        return np.where(allowed, solution.table, 0.0), True  # all allowed cells are far above the residual
    held = support(problem, solution.table, solution.empty)
    if held is None:
        return solution.table, False
    return np.where(held, solution.table, 0.0), True


def _given(evidence: AttributeEvidence, joint: FloatArray) -> Reference:
    """Use the unmasked counts as the reference; every value is an atom."""
    atom_of_value = np.arange(evidence.values, dtype=np.int32)
    problem = Problem.of(evidence, atom_of_value, evidence.values)
    residual = problem.residual(joint)
    misfits = find_misfits(evidence, problem, joint, with_exact=residual > 0.0)
    return Reference(
        atom_of_value,
        joint,
        AtomStatistics.uniform(atom_of_value, joint.sum(axis=1)),
        mutual_information(joint),
        Certificate("given", evidence.values, 0, residual, residual == 0.0, misfits),
    )


def _solve(problem: Problem, solver: Solver) -> Solution:
    """Solve each part by itself: in closed form if it has one, else by the solver."""
    table = np.zeros((problem.prior.size, problem.labels))
    empty = np.zeros(table.shape, dtype=bool)
    held = without_empty_atoms(problem)
    if not held.size:
        return Solution("closed_form", table, 0, 0.0)
    if not problem.is_exact:
        solution = solver.solve(_condensed(restrict(problem, held)))
        # Later steps would divide by cells so small that sums lose them.
        table[held] = np.where(solution.table > VANISHED * problem.records, solution.table, 0.0)
        return replace(solution, table=table)
    solution = _solve_exact(_condensed(restrict(problem, held)), solver)
    table[held] = solution.table
    empty[held] = False if solution.empty is None else solution.empty
    return replace(solution, table=table, empty=empty)


def _solve_exact(problem: Problem, solver: Solver) -> Solution:
    """Solve a problem with fewer labels, if some need not be told apart, else part by part."""
    merged = with_labels_merged(problem)
    if merged is not None:
        solution = _solve(merged.problem, solver)
        table, apart = merged.spread(solution.table)
        empty = None if solution.empty is None else solution.empty[:, merged.class_of]
        return replace(solution, table=table, divergence=solution.divergence + apart, empty=empty)
    single, parts = split(problem)
    nested = restrict(problem, single)
    table = np.zeros((problem.prior.size, problem.labels))
    empty = np.zeros(table.shape, dtype=bool)
    for margin in nested.margins:
        table[single[margin.atoms]] = share_out(margin, nested.prior)
    method: Method = "closed_form"
    iterations, least = 0, divergence(table[single], nested.start())
    for atoms, part in zip(parts, divide(problem, parts), strict=True):
        solution = _solve_part(part, solver)
        table[atoms] = solution.table
        empty[atoms] = False if solution.empty is None else solution.empty
        method = max(method, solution.method, key=get_args(Method).index)
        iterations = max(iterations, solution.iterations)
        least += solution.divergence
    return Solution(method, table, iterations, least, empty=empty)


def _solve_part(part: Problem, solver: Solver) -> Solution:
    """Solve a connected part: by merging labels, by its only table, or by the solver."""
    if with_labels_merged(part) is not None:
        return _solve_exact(part, solver)
    table = unique_table(part)
    return solver.solve(part) if table is None else Solution("closed_form", table, 0, divergence(table, part.start()))


def _condensed(problem: Problem) -> Problem:
    """Reduce the exact margins to an equivalent minimum, and temper the inexact ones."""
    inexact = (margin.tempered(problem.records) for margin in problem.margins if not margin.is_exact)
    exact = replace(problem, margins=tuple(margin for margin in problem.margins if margin.is_exact))
    exact = essential(with_runs_joined(exact))
    return replace(exact, margins=(*exact.margins, *inexact))


def _information_bound(problem: Problem, solution: Solution) -> float | None:
    """A lower bound, in bits, of the mutual information of any table that fits (variant I).

    With the rows known, `I = H(Y) - ln(labels) + KL(F || prior) / N`, and any value of the dual is below the
    divergence of every table that fits. Unlike the iterate's own information, this bound is valid at any residual.
    """
    if problem.rows is None or not problem.is_exact:  # the true table need not fit inexact counts
        return None
    information = mutual_information(solution.table)
    if solution.iterations == 0 or problem.records == 0:
        return information
    label = problem.margins[0].counts[0] / problem.records
    nats = float(scipy.special.entr(label).sum()) - math.log(problem.labels) + solution.divergence / problem.records
    return max(0.0, min(information, nats / math.log(2)))
