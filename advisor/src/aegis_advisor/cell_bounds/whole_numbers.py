"""Cells that are determined only because counts are whole numbers.

Real numbers can meet sums that whole numbers cannot: if every two of three cells add up to one, each cell is a half. So
a cell can have the same count in all tables of whole numbers although its bounds differ. Whether some table of whole
numbers has another count is decided by branch and bound (Land & Doig 1960, "An automatic method of solving discrete
programming problems"). A box, the bounds of all cells, is narrowed by each sum in turn. Then a linear program proves
that no table in it fits (`proves_empty`), or returns one that does. If a cell of that table has a fraction, it divides
the box into two. Integer programs by HiGHS, through SciPy, find tables that this search misses. Nothing depends on a
tolerance: a table is accepted only if its whole numbers have the exact sums, and a box only counts as empty with a
proof in whole numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass

import highspy
import numpy as np
import scipy

from aegis_advisor.arrays import BoolArray, FloatArray, IntArray
from aegis_advisor.cell_bounds.certain_sums import LinearSystem
from aegis_advisor.cell_bounds.linear_programs import BoundSearch, InfeasibleError, proves_empty

FRACTION = 1e-6
"""A cell of a solver's table counts as fractional if it is farther than this from a whole number."""


class GivenUpError(Exception):
    """Time ran out, the search took too many boxes, or the solver's precision was too low for a proof."""


class Relaxation:
    """The linear program that searches a box for a table of real numbers: it minimises the total violation of the sums.

    Unlike a program without a solution, this one always has multipliers, which then prove that no table fits.
    """

    def __init__(self, sums: LinearSystem) -> None:
        self._sums = sums
        self._cells = np.arange(sums.cells.size, dtype=np.int32)
        self._highs = highspy.Highs()
        for name, value in {"output_flag": False, "threads": 1, "solver": "simplex", "presolve": "off"}.items():
            self._highs.setOptionValue(name, value)
        self._highs.passModel(_model(sums))

    def table(self, lower: FloatArray, upper: FloatArray) -> FloatArray | None:
        """Return a table (cells,) between these bounds; None if the box is proven empty.

        Raises:
            GivenUpError: the program has no solution, or its multipliers prove nothing.
        """
        self._highs.changeColsBounds(self._cells.size, self._cells, lower, upper)
        self._highs.run()
        if self._highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            raise GivenUpError
        solution = self._highs.getSolution()
        if proves_empty(self._sums, lower, upper, np.array(solution.row_dual)):
            return None
        values = np.array(solution.col_value)
        if values[self._cells.size :].sum() > FRACTION:
            raise GivenUpError
        return values[: self._cells.size]


def _model(sums: LinearSystem) -> highspy.HighsLp:
    """The sums as a HiGHS model, with two slack columns for each: shortfall and excess."""
    rows, cells = sums.matrix.shape
    columns = sums.matrix.tocsc()
    missing: IntArray = np.arange(2 * rows)
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = rows, cells + missing.size
    model.col_cost_ = np.repeat([0.0, 1.0], [cells, missing.size])
    model.col_lower_ = np.zeros(cells + missing.size)
    model.col_upper_ = np.concatenate((sums.upper, np.full(missing.size, highspy.kHighsInf)))
    model.row_lower_, model.row_upper_ = sums.least, sums.most
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = np.concatenate((columns.indptr, columns.indptr[-1] + 1 + missing))
    model.a_matrix_.index_ = np.concatenate((columns.indices, missing % rows))
    model.a_matrix_.value_ = np.concatenate((columns.data, np.repeat([1.0, -1.0], rows)))
    return model


LARGEST = 200
"""The most cells of a block that is searched; the time can grow exponentially with their number."""

FEW, MANY = 50, 2_000
"""The most boxes of a search before an integer program is tried, and after it. A time limit would make results
irreproducible."""

NODES, GAP = 1_000, 0.5
"""The most nodes of an integer program, and how far from the best, relative to it, a table may be to end it."""

ROUNDS = 100
"""How often the bounds of a box are narrowed in turn. Large counts can take as many rounds as there are records."""

Box = tuple[FloatArray, FloatArray]
"""The least and the most (cells,) that the cells have in a box."""


@dataclass(frozen=True, slots=True, eq=False)
class WholeCells:
    """The cells of a part that whole numbers determine. Each array is (cells,).

    Attributes:
        determined: which cells have the same count in all tables of whole numbers, but not in all tables.
        counts: the counts of these cells; 0 for others.
        undecided: the cells for which this was not decided.
    """

    determined: BoolArray
    counts: FloatArray
    undecided: BoolArray


def decide(search: BoundSearch, stop: Callable[[], bool]) -> WholeCells:
    """Decide which cells of a part whole numbers determine, block by block.

    The cells whose bounds are equal are subtracted from the sums. The rest falls into blocks that share no sum.

    Args:
        search: a search that has ended.
        stop: called before each linear program; if true, the remaining cells stay undecided.

    Raises:
        InfeasibleError: no table of whole numbers has these sums.
    """
    cells = search.sums.cells.size
    answer = WholeCells(np.zeros(cells, dtype=bool), np.zeros(cells), np.zeros(cells, dtype=bool))
    for block in _without_determined(search).parts():
        at = block.cells
        boxes = BoxSearch(
            block,
            search.whole_least[at] - search.lower[at],
            search.whole_most[at] - search.lower[at],
            np.zeros(at.size),
            block.upper.copy(),
            stop,
        )
        boxes.run()
        answer.determined[at] = boxes.determined
        answer.counts[at] = np.where(boxes.determined, search.lower[at] + boxes.lower, 0.0)
        answer.undecided[at] = ~boxes.determined & ~boxes.varies
    return answer


def _without_determined(search: BoundSearch) -> LinearSystem:
    """The sums of the cells that are not determined, less the lower bound of each cell.

    A cell without an upper limit occurs only in sums without one, and can fill any shortfall of these. So it limits no
    other cell, and is left out together with its sums.
    """
    sums = search.sums
    bounded = np.isfinite(search.upper)
    left = bounded & (search.lower < search.upper)
    kept = (sums.matrix @ (~bounded).astype(np.float64) == 0) & (sums.matrix @ left.astype(np.float64) > 0)
    cells = np.flatnonzero(left)
    fixed = sums.matrix @ np.where(bounded, search.lower, 0.0)
    matrix = sums.matrix[kept][:, cells]
    return LinearSystem(
        cells=cells,
        matrix=matrix,
        transposed=matrix.T.tocsr(),
        least=np.maximum(sums.least - fixed, 0.0)[kept],
        most=(sums.most - fixed)[kept],
        upper=(search.upper - search.lower)[cells],
    )


@dataclass(slots=True, eq=False)
class BoxSearch:
    """The search for tables of whole numbers that differ in the cells of a block.

    Attributes:
        sums: the sums of the block, whose cells are all bounded.
        least: (cells,) the minimum over the tables of whole numbers so far; infinite if there are none.
        most: (cells,) the maximum over them; minus infinity if there are none.
        lower: (cells,) the proven minimum over all tables of whole numbers.
        upper: (cells,) the proven maximum.
        stop: called before each linear program; true if time is up.
    """

    sums: LinearSystem
    least: FloatArray
    most: FloatArray
    lower: FloatArray
    upper: FloatArray
    stop: Callable[[], bool]

    @property
    def determined(self) -> BoolArray:
        """(cells,) which cells have the same count in all tables of whole numbers."""
        return np.asarray(self.lower == self.upper)

    @property
    def varies(self) -> BoolArray:
        """(cells,) which cells differ between tables of whole numbers so far."""
        return np.asarray(self.least < self.most)

    def run(self) -> None:
        """Decide one cell after another, as far as possible.

        Raises:
            InfeasibleError: there is no table.
        """
        if self.varies.all() or self.sums.cells.size > LARGEST:
            return
        relaxation = Relaxation(self.sums)
        try:
            self._collect(relaxation)
        except GivenUpError:
            return
        for cell in range(self.sums.cells.size):
            try:
                if not self.varies[cell]:
                    self._decide_cell(relaxation, cell)
            except GivenUpError:
                continue

    def _collect(self, relaxation: Relaxation) -> None:
        """Find a table, then others with high and low counts in cells that do not vary yet, as long as this helps."""
        if not np.isfinite(self.least).all() and not self._has_table(relaxation, self.lower, self.upper):
            raise InfeasibleError
        for sign in (-1.0, 1.0):
            left = self.sums.cells.size
            while 0 < (still := int(np.count_nonzero(~self.varies))) < left and not self.stop():
                left = still
                self._try_program(self.lower, self.upper, np.where(self.varies, 0.0, sign))

    def _decide_cell(self, relaxation: Relaxation, cell: int) -> None:
        """Search for a table with a higher count in this cell than all so far, then for one with a lower count."""
        count = self.least[cell]
        above, below = self.lower.copy(), self.upper.copy()
        above[cell], below[cell] = count + 1, count - 1
        if self._has_table(relaxation, above, self.upper):
            return
        self.upper[cell] = count
        if not self._has_table(relaxation, self.lower, below):
            self.lower[cell] = count

    def _has_table(self, relaxation: Relaxation, lower: FloatArray, upper: FloatArray) -> bool:
        """Whether a box has a table of whole numbers; records it."""
        try:
            return self._divide(relaxation, lower, upper, FEW)
        except GivenUpError:
            if self.stop():
                raise
        if self._try_program(lower, upper, np.zeros(lower.size)):
            return True
        return self._divide(relaxation, lower, upper, MANY)

    def _divide(self, relaxation: Relaxation, lower: FloatArray, upper: FloatArray, most: int) -> bool:
        """Whether a box has a table, by division into at most `most` boxes; raises `GivenUpError` beyond that."""
        boxes: list[Box] = [(lower, upper)]
        for _ in range(most):
            if not boxes:
                return False
            box = narrowed(self.sums, *boxes.pop())
            if box is None:
                continue
            if self.stop():
                raise GivenUpError
            point = relaxation.table(*box)
            if point is None:
                continue
            fraction = np.abs(point - np.rint(point))
            if fraction.max(initial=0.0) <= FRACTION:
                if not self._note(np.rint(point)):
                    raise GivenUpError
                return True
            boxes += _halves(box, int(fraction.argmax()), point)
        raise GivenUpError

    def _try_program(self, lower: FloatArray, upper: FloatArray, cost: FloatArray) -> bool:
        """Whether an integer program finds a table in a box; if none, there may still be one."""
        sums = scipy.optimize.LinearConstraint(self.sums.matrix, self.sums.least, self.sums.most)
        optimum = scipy.optimize.milp(
            cost,
            constraints=sums,
            bounds=scipy.optimize.Bounds(lower, upper),
            integrality=np.ones(cost.size, dtype=np.int64),
            options={"node_limit": NODES, "mip_rel_gap": GAP},
        )
        return optimum.x is not None and self._note(np.rint(optimum.x))

    def _note(self, table: FloatArray) -> bool:
        """Record a table if it is one of whole numbers with the exact sums; return whether it is."""
        fits = self.sums.admits(table)
        if fits:
            self.least = np.minimum(self.least, table)
            self.most = np.maximum(self.most, table)
        return fits


def narrowed(sums: LinearSystem, lower: FloatArray, upper: FloatArray) -> Box | None:
    """Narrow a box to what each sum leaves for its cells; None if nothing is left for some cell or sum."""
    members, starts = sums.transposed.indices, sums.transposed.indptr[:-1]
    for _ in range(ROUNDS):
        room = sums.most - sums.matrix @ lower
        need = sums.matrix @ upper - sums.least
        if np.any(lower > upper) or np.any(room < 0) or np.any(need < 0):
            return None
        most = np.minimum(upper, lower + np.minimum.reduceat(room[members], starts))
        least = np.maximum(lower, upper - np.minimum.reduceat(need[members], starts))
        if np.array_equal(most, upper) and np.array_equal(least, lower):
            break
        lower, upper = least, most
    return lower, upper


def _halves(box: Box, cell: int, point: FloatArray) -> list[Box]:
    """Divide a box at a cell with a fraction; the half that is nearer to the point comes last."""
    below, above = box[1].copy(), box[0].copy()
    below[cell], above[cell] = np.floor(point[cell]), np.ceil(point[cell])
    halves: list[Box] = [(box[0], below), (above, box[1])]
    return halves if point[cell] - below[cell] >= above[cell] - point[cell] else halves[::-1]
