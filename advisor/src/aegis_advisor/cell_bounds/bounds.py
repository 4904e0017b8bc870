"""Certain bounds of the unpublished cells of a table, from all published tables together.

It is the attack of a reader who trusts every published count and uses linear programming (Dobra & Fienberg 2000,
"Bounds for cell entries in contingency tables given marginal totals and decomposable graphs").

They follow from certain sums: by closed forms where they exist, else by linear programs.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, Self

import numpy as np

from aegis_advisor.arrays import AtomArray, BoolArray, FloatArray, IntArray, fold
from aegis_advisor.atoms import common_refinement
from aegis_advisor.cell_bounds.certain_sums import CertainSums, LinearSystem, SumLimits
from aegis_advisor.cell_bounds.linear_programs import BoundSearch, InfeasibleError
from aegis_advisor.cell_bounds.whole_numbers import decide
from aegis_advisor.errors import ContradictoryViewsError
from aegis_advisor.evidence import AttributeEvidence
from aegis_advisor.evidence.row_space import is_regular
from aegis_advisor.reconstruction.decomposition import (
    divide,
    essential,
    restrict,
    split,
    with_runs_joined,
    without_empty_atoms,
)
from aegis_advisor.reconstruction.exact import unique_table
from aegis_advisor.reconstruction.ipf import never
from aegis_advisor.reconstruction.problem import Margin, Problem, design_of

Bounds = tuple[FloatArray, FloatArray]
"""Lower and upper bounds, both (atoms, labels)."""


def in_groups(margin: Margin, rows: FloatArray | None) -> Bounds:
    """The tightest bounds of the cells of a margin with disjoint groups, in the order of its members.

    With known rows (members,) a group is a table with two margins, for which the bounds of Frechet (1951), also
    Bonferroni's, are attained: `max(0, r + c - n) <= x <= min(r, c)`. Without them, each count of a group can be split
    among its atoms in any way; a single atom gets all of it.
    """
    counts = margin.counts[margin.group_of]
    if rows is None:
        single = np.bincount(margin.group_of, minlength=margin.groups)[margin.group_of] == 1
        return np.where(single[:, np.newaxis], counts, 0.0), counts
    row = rows[:, np.newaxis]
    rest = counts.sum(axis=1, keepdims=True) - counts
    return np.maximum(0.0, row - rest), np.minimum(row, counts)


def contradicts(margin: Margin, rows: FloatArray) -> bool:
    """Whether the rows (members,) of a group do not add up to its counts."""
    return not np.array_equal(fold(rows, margin.group_of, margin.groups), margin.counts.sum(axis=1))


def proven_table(problem: Problem) -> FloatArray | None:
    """The table (atoms, labels) that meets the margins, if it is proven to be the only one; else None.

    `unique_table` finds it and checks the margins. No other table has the same sums if the atoms' rows `D` of the
    design are independent, that is, if `D D'` is regular, which `is_regular` proves.
    """
    table = unique_table(problem)
    if table is None:
        return None
    design = design_of(problem)
    return table if is_regular(np.asarray((design @ design.T).todense(), dtype=np.float64)) else None


@dataclass(slots=True, eq=False)
class TableBounds:
    """The search for the bounds of a table.

    Attributes:
        lower: (atoms, labels) whole numbers as float64.
        upper: (atoms, labels) likewise; infinite where nothing limits the cell.
        searches: for each part that needs linear programs: the indices (cells,) of its cells in the flattened table,
            and its search.
        complete: whether every linear program that was needed has been solved.
        by_whole_numbers: (atoms, labels) which cells are determined only because counts are whole numbers.
        undecided: (atoms, labels) the cells for which this was not decided.
    """

    lower: FloatArray
    upper: FloatArray
    by_whole_numbers: BoolArray
    undecided: BoolArray
    searches: list[tuple[IntArray, BoundSearch]] = field(default_factory=list)
    complete: bool = True

    @classmethod
    def of(cls, known: CertainSums) -> Self | None:
        """Return the bounds with a closed form, and searches for the other parts; None if no table fits."""
        shape = known.exact.prior.size, known.exact.labels
        bounds = cls(np.zeros(shape), np.zeros(shape), np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool))
        held = without_empty_atoms(known.exact)
        if not held.size:
            return bounds
        fits = bounds._of_exact(known.exact, held) if _is_exact(known) else bounds._of_all(known)
        return bounds if fits else None

    @property
    def programs(self) -> int:
        """The number of linear programs solved."""
        return sum(search.programs for _, search in self.searches)

    def search(self, progress: Callable[[int, int], None], stop: Callable[[], bool]) -> bool:
        """Solve the linear programs, then search for tables of whole numbers; False if no table fits."""
        waiting = [search.open() for _, search in self.searches]
        everything = sum(waiting)
        for place, (cells, search) in enumerate(self.searches):
            later = sum(waiting[place + 1 :])
            try:
                done = search.run(stop, partial(_report, progress, later, everything))
            except InfeasibleError:
                return False
            self.complete = self.complete and done
            self.lower.flat[cells], self.upper.flat[cells] = search.lower, search.upper
        try:
            self._decide(stop)
        except InfeasibleError:
            return False
        return True

    def _decide(self, stop: Callable[[], bool]) -> None:
        """Add the cells that are determined only because counts are whole numbers."""
        for cells, search in self.searches:
            whole = decide(search, stop)
            self.by_whole_numbers.flat[cells] = whole.determined
            self.undecided.flat[cells] = whole.undecided
            known = cells[whole.determined]
            self.lower.flat[known] = self.upper.flat[known] = whole.counts[whole.determined]

    def _of_exact(self, exact: Problem, held: IntArray) -> bool:
        """Find the bounds from exact margins, for the atoms (held,) that can have records; False if no table fits."""
        problem = essential(with_runs_joined(restrict(exact, held)))
        single, parts = split(problem)
        nested = restrict(problem, single)
        for margin in nested.margins:
            rows = None if nested.rows is None else nested.rows[margin.atoms]
            if rows is not None and contradicts(margin, rows):
                return False
            atoms = held[single[margin.atoms]]
            self.lower[atoms], self.upper[atoms] = in_groups(margin, rows)
        apart = zip(parts, divide(problem, parts), strict=True)
        return all(self._of_part(part, held[atoms]) for atoms, part in apart)

    def _of_part(self, part: Problem, atoms: IntArray) -> bool:
        """Find the bounds of a part whose groups overlap; False if no table fits."""
        table = proven_table(part)
        if table is None:
            return self._leave(list(map(SumLimits.of_margin, part.margins)), part.rows, atoms)
        self.lower[atoms] = self.upper[atoms] = table
        return True

    def _of_all(self, known: CertainSums) -> bool:
        """Find the bounds from sums that are not all exact; False if no table fits."""
        return self._leave(list(known.sums), known.exact.rows, np.arange(known.exact.prior.size))

    def _leave(self, limits: list[SumLimits], rows: FloatArray | None, atoms: IntArray) -> bool:
        """Leave the cells of these atoms (atoms,) to linear programs; False if no table fits."""
        labels = self.lower.shape[1]
        if not limits and rows is None:
            self.upper[atoms] = np.inf
            return True
        sums = LinearSystem.of(limits, rows, atoms.size, labels)
        if sums is None:
            return False
        places = (atoms[:, np.newaxis] * labels + np.arange(labels)).ravel()
        self.searches += [(places[part.cells], BoundSearch.over(part)) for part in sums.parts()]
        return True


def _report(progress: Callable[[int, int], None], later: int, everything: int, left: int) -> None:
    """Report the number of bounds decided, given those left in the current part and in later parts."""
    progress(everything - later - left, everything)


def _is_exact(known: CertainSums) -> bool:
    """Whether there are known sums, and all of them are exact."""
    return bool(known.exact.margins) and not known.limits


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
