"""Bounds of the unpublished cells of a table: what follows for certain from all published tables together.

This is the attack of a reader of the entry who trusts every count and knows linear programming (Dobra & Fienberg 2000,
"Bounds for cell entries in contingency tables given marginal totals and decomposable graphs").
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from aegis_advisor.arrays import AtomArray, BoolArray, FloatArray, IntArray
from aegis_advisor.atoms import common_refinement
from aegis_advisor.cell_bounds.certain_sums import CertainSums
from aegis_advisor.cell_bounds.table_bounds import TableBounds
from aegis_advisor.errors import ContradictoryViewsError
from aegis_advisor.evidence import AttributeEvidence
from aegis_advisor.reconstruction.ipf import never

Method = Literal["given", "closed_form", "linear_programs"]

UNLIMITED = int(np.iinfo(np.int64).max)
"""The upper bound of a cell without any certain limit."""


@dataclass(frozen=True, slots=True, eq=False)
class CellBounds:
    """The bounds of each cell of an attribute's table of atoms and labels.

    A cell is determined exactly by what is published if its bounds are equal. That may be so only because counts are
    whole numbers.

    Attributes:
        atom_of_value: (values,) the atom of each value, as numbered by `common_refinement`.
        lower: (atoms, labels) int64, 0 or more.
        upper: (atoms, labels) int64; `UNLIMITED` where nothing is certain.
        method: the most expensive method that was needed.
        programs: the number of linear programs solved.
        complete: whether every bound is the tightest possible for tables of real numbers with these sums, rounded to a
            whole number (for counts of 10^9 and more, only to a billionth of the largest). If not, time ran out or a
            program was given up: all bounds hold, but some may be wider than necessary.
        by_whole_numbers: (atoms, labels) which cells are determined only because counts are whole numbers: all tables
            of whole numbers have the same count there, but tables of real numbers have others.
        undecided: (atoms, labels) which cells may be determined for that reason, because that was not decided: more
            than 200 cells depend on each other, time ran out, or a search was given up.
    """

    atom_of_value: AtomArray
    lower: IntArray
    upper: IntArray
    method: Method
    programs: int
    complete: bool
    by_whole_numbers: BoolArray
    undecided: BoolArray


def silent(_done: int, _bounds: int) -> None:
    """Ignore the progress."""


def bound_cells(
    evidence: AttributeEvidence,
    *,
    progress: Callable[[int, int], None] = silent,
    stop: Callable[[], bool] = never,
) -> CellBounds:
    """Find the bounds of every cell: the least and the most over all tables that fit everything that is certain.

    Counts with declared noise say nothing for certain. Rounded counts and counts that lack records limit their sums.
    Random maskings limit sums only by which masked values are possible (`CertainSums`). No bound excludes the truth,
    since each has a proof in whole numbers. Bounds are those of tables of real numbers, rounded; only the cells that
    have the same count in all tables of whole numbers are looked for too (`whole_numbers`).

    Args:
        evidence: without faults (`find_faults`).
        progress: called with (done, total) after each linear program: how many bounds are settled, and how many need
            programs.
        stop: called before each linear program; if true, the bounds proven so far are returned.

    Raises:
        ContradictoryViewsError: no table of whole numbers fits.
    """
    if evidence.joint is not None:
        return _given(evidence.joint)
    atom_of_value = common_refinement(evidence.partitions, evidence.values)
    known = CertainSums.of(evidence, atom_of_value, int(atom_of_value.max()) + 1)
    bounds = TableBounds.of(known)
    if bounds is None or not (bounds.search(progress, stop) and known.admits(bounds.lower, bounds.upper)):
        raise ContradictoryViewsError(evidence.name)
    lower, upper = _as_counts(bounds.lower), _as_counts(bounds.upper)
    method: Method = "linear_programs" if bounds.programs else "closed_form"
    return CellBounds(
        atom_of_value, lower, upper, method, bounds.programs, bounds.complete, bounds.by_whole_numbers, bounds.undecided
    )


def _given(joint: IntArray) -> CellBounds:
    """The bounds of unmasked counts (values, labels): the counts themselves."""
    everyone, none = np.arange(joint.shape[0], dtype=np.int32), np.zeros(joint.shape, dtype=bool)
    return CellBounds(everyone, joint.copy(), joint.copy(), "given", 0, True, none, none)


def _as_counts(bound: FloatArray) -> IntArray:
    """Convert whole numbers to int64, and infinity to `UNLIMITED`."""
    finite = np.isfinite(bound)
    return np.where(finite, np.where(finite, bound, 0.0).astype(np.int64), UNLIMITED)
