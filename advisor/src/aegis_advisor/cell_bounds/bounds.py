"""Certain bounds of the unpublished cells of a table, from all published tables together.

It is the attack of a reader who trusts every published count and uses linear programming (Dobra & Fienberg 2000,
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
"""The upper bound of a cell that nothing limits."""


@dataclass(frozen=True, slots=True, eq=False)
class CellBounds:
    """The bounds of each cell of an attribute's table of atoms and labels.

    The published counts determine a cell if its bounds are equal. Sometimes they do so only because counts are whole
    numbers.

    Attributes:
        atom_of_value: (values,) the atom of each value, as numbered by `common_refinement`.
        lower: (atoms, labels) int64, 0 or more.
        upper: (atoms, labels) int64; `UNLIMITED` where nothing limits the cell.
        method: the most expensive method used.
        programs: the number of linear programs solved.
        complete: whether every bound is the tightest possible for tables of real numbers with these sums, rounded to a
            whole number (for counts of 10^9 and more, only to a billionth of the largest). If not, time ran out or a
            program failed: all bounds are valid, but some may be wider than necessary.
        by_whole_numbers: (atoms, labels) which cells are determined only because counts are whole numbers: all tables
            of whole numbers have the same count there, but tables of real numbers have others.
        undecided: (atoms, labels) the cells for which this was not decided: more than 200 cells depend on each other,
            time ran out, or a search was abandoned.
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
    """Bound every cell: its minimum and maximum over all tables that agree with everything certain.

    Counts with declared noise imply no certain bound. Rounded counts and counts with records left out limit their sums.
    Random maskings limit sums only by which masked values are possible (`CertainSums`). No bound excludes the truth,
    since each has a proof in whole numbers. Bounds are those of tables of real numbers, rounded; beyond that, only
    cells with the same count in all tables of whole numbers are searched for (`whole_numbers`).

    Args:
        evidence: without faults (`find_faults`).
        progress: called with (done, total) after each linear program: the number of bounds decided, and of all that
            need programs.
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
