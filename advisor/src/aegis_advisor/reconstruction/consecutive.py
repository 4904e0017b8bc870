"""Views that cut an ordered domain into runs determine their common refinement: nothing is left to iterate."""

from collections.abc import Sequence
from itertools import compress

import numpy as np

from aegis_advisor.arrays import BoolArray, IntArray
from aegis_advisor.reconstruction.problem import Margin, Problem


def with_runs_joined(problem: Problem) -> Problem:
    """The same problem with one view in place of all those whose groups are runs of consecutive atoms.

    Bins, dates and sorted hierarchies are such views. The counts up to any of their cuts are known, hence, as
    differences, those between any two cuts, to the last record: however the cuts of several views overlap,
    together they are one view. Iterative methods creep towards it (model, section 5).

    Atoms are taken to be in the order of the domain. The problem comes back as it is where there is nothing to
    join, and where a difference is negative: then the views contradict each other, and no table fits.
    """
    are_runs = [_consists_of_runs(margin, problem.prior.size) for margin in problem.margins]
    if not any(are_runs):
        return problem
    joined = _joined(list(compress(problem.margins, are_runs)))
    if joined.counts.min() < 0:
        return problem
    others = (margin for margin, is_run in zip(problem.margins, are_runs, strict=True) if not is_run)
    return Problem(problem.prior, problem.rows, (joined, *others), problem.labels, problem.records)


def _consists_of_runs(margin: Margin, atoms: int) -> bool:
    """Whether an exact margin speaks of all atoms, in order, and has each group in one piece."""
    if not margin.is_exact or margin.atoms.size != atoms:
        return False
    return int(np.count_nonzero(_cuts(margin))) + 1 == margin.groups


def _cuts(margin: Margin) -> BoolArray:
    """Between which atoms (atoms - 1,) a group ends and another begins."""
    cuts: BoolArray = margin.group_of[1:] != margin.group_of[:-1]
    return cuts


def _joined(runs: Sequence[Margin]) -> Margin:
    """The common refinement of margins that consist of runs of the same atoms."""
    atoms = runs[0].atoms
    cut = np.logical_or.reduce([_cuts(run) for run in runs])
    group_of: IntArray = np.concatenate(([0], np.cumsum(cut)))
    cumulative = np.zeros((int(group_of[-1]) + 2, runs[0].counts.shape[1]))
    for run in runs:
        last = np.flatnonzero(np.append(_cuts(run), [True]))
        cumulative[group_of[last] + 1] = np.cumsum(run.counts[run.group_of[last]], axis=0)
    return Margin(atoms, group_of, np.diff(cumulative, axis=0))
