"""The tightest bounds of cells with known sums, by as few linear programs as possible.

A solver's optimum has limited precision, but a bound must never exclude the truth. Any multipliers `y` of the
sums prove a bound (Neumaier & Shcherbina 2004, "Safe bounds in linear and mixed-integer linear programming"):

    c x = y A x + (c - y A) x  >=  sum of y times the limit on its side  +  sum of min(0, c - y A) times the most of x

for every table with `least <= A x <= most` and `0 <= x <= upper`. Multipliers are rounded to fractions whose common
denominator is a power of two. Then the arithmetic is exact. Counts are whole, so the bound is rounded up.

Likewise, no table fits if a combination of the sums is larger than any table within the bounds of its cells makes it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Self

import highspy
import numpy as np

from aegis_advisor.arrays import BoolArray, FloatArray, IntArray
from aegis_advisor.cell_bounds.certain_sums import LinearSystem

NEGLIGIBLE = 2.0**-40
"""Multipliers smaller than this, relative to the largest, are rounding errors of the solver."""

HOPELESS = 2.0**20
"""Multipliers above this leave too few binary places for the others."""


def proven_least(sums: LinearSystem, cell: int, sign: int, multipliers: FloatArray) -> int | None:
    """A lower bound of `sign` times a cell in every table of whole numbers; None if the multipliers prove none.

    Args:
        sums: the sums and their limits.
        cell: the index of the cell among the cells of `sums`.
        sign: 1 or -1.
        multipliers: (sums,) approximately the dual solution of the program that minimises `sign` times the cell.
    """
    if not np.abs(multipliers).max(initial=0.0) < HOPELESS:
        return None
    whole, exponent = _scaled(sums, multipliers)
    reduced = -(sums.transposed.astype(np.int64) @ whole)
    reduced[cell] += sign << exponent
    limits = np.where(whole > 0, sums.least, sums.most)
    total = _product(whole, limits)
    below = np.flatnonzero(reduced < 0)
    if not np.isfinite(sums.upper[below]).all():
        return None
    total += _product(reduced[below], sums.upper[below])
    return -(-total >> exponent)


def proves_empty(sums: LinearSystem, lower: FloatArray, upper: FloatArray, multipliers: FloatArray) -> bool:
    """Whether the multipliers (sums,) prove that no table between these finite bounds (cells,) has these sums."""
    if not np.abs(multipliers).max(initial=0.0) < HOPELESS:
        return False
    whole, _ = _scaled(sums, multipliers)
    coefficients = sums.transposed.astype(np.int64) @ whole
    needed = _product(whole, np.where(whole > 0, sums.least, sums.most))
    return needed > _product(coefficients, np.where(coefficients > 0, upper, lower))


def _scaled(sums: LinearSystem, multipliers: FloatArray) -> tuple[IntArray, int]:
    """The multipliers times 2^exponent, as integers small enough that those of a cell's sums total at most 2^62.

    Multipliers that would use an infinite limit become 0.
    """
    usable = np.isfinite(np.where(multipliers > 0, sums.least, sums.most))
    multipliers = np.where(usable, multipliers, 0.0)
    largest = float(np.abs(multipliers).max(initial=1.0))
    most = int(np.diff(sums.transposed.indptr).max(initial=1))
    exponent = 60 - most.bit_length() - int(np.frexp(largest)[1])
    kept = np.where(np.abs(multipliers) > NEGLIGIBLE * largest, multipliers, 0.0)
    return np.rint(np.ldexp(kept, exponent)).astype(np.int64), exponent


def _product(factors: IntArray, counts: FloatArray) -> int:
    used = np.flatnonzero(factors)
    return sum(factor * int(count) for factor, count in zip(factors[used].tolist(), counts[used].tolist(), strict=True))


PRIMAL = 4
DEVEX = 1
"""A table that fits stays feasible when the objective changes to another cell, so the primal method can start from it.
Devex pricing is cheap."""

STEPS = 100_000
"""The most simplex steps of a program. A time limit would make results irreproducible."""

LARGE = 2.0**20
"""Counts are scaled below this, since the solver's tolerances are absolute."""


class InfeasibleError(Exception):
    """No table has these sums."""


@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """The solution of a linear program.

    Attributes:
        point: (cells,) the optimal table.
        multipliers: (sums,) the dual solution, which proves the optimum.
    """

    point: FloatArray
    multipliers: FloatArray


class Simplex:
    """A solver that minimises cells of a table with given sums."""

    def __init__(self, sums: LinearSystem) -> None:
        self._unit = max(1.0, 2.0 ** np.ceil(np.log2(sums.largest / LARGE))) if sums.largest > 0 else 1.0
        self._highs = highspy.Highs()
        options: dict[str, bool | int | str] = {
            "output_flag": False,
            "threads": 1,
            "solver": "simplex",
            "simplex_strategy": PRIMAL,
            "simplex_primal_edge_weight_strategy": DEVEX,
            "simplex_iteration_limit": STEPS,
            "presolve": "off",
        }
        for name, value in options.items():
            self._highs.setOptionValue(name, value)
        self._highs.passModel(_model(sums, self._unit))

    def least(self, cells: IntArray, sign: int) -> Optimum | None:
        """Return a table that minimises `sign` times the sum of some cells; None if the solver failed.

        Raises:
            InfeasibleError: no table has these sums.
        """
        for cell in cells.tolist():
            self._highs.changeColCost(cell, float(sign))
        self._highs.run()
        status = self._highs.getModelStatus()
        solution = self._highs.getSolution()
        for cell in cells.tolist():
            self._highs.changeColCost(cell, 0.0)
        if status == highspy.HighsModelStatus.kInfeasible:
            raise InfeasibleError
        if status != highspy.HighsModelStatus.kOptimal:
            return None
        return Optimum(np.array(solution.col_value) * self._unit, np.array(solution.row_dual))


def _model(sums: LinearSystem, unit: float) -> highspy.HighsLp:
    """The sums as a HiGHS model with an empty objective."""
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = sums.matrix.shape
    model.col_cost_ = np.zeros(sums.cells.size)
    model.col_lower_ = np.zeros(sums.cells.size)
    model.col_upper_ = np.full(sums.cells.size, highspy.kHighsInf)
    model.row_lower_ = sums.least / unit
    model.row_upper_ = sums.most / unit
    columns = sums.matrix.tocsc()
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = columns.indptr
    model.a_matrix_.index_ = columns.indices
    model.a_matrix_.value_ = columns.data
    return model


CLOSE = 1e-6
RELATIVE = 1e-9
"""A solver's table attains a bound if it is this close: within an error in records, plus one relative to the largest
count."""


@dataclass(slots=True, eq=False)
class BoundSearch:
    """The search for the bounds of the cells of a part.

    Attributes:
        sums: the sums of the part.
        lower: (cells,) the lower bounds proven so far.
        upper: (cells,) the upper bounds proven so far.
        least: (cells,) the minimum over all feasible tables so far.
        most: (cells,) the maximum over these tables.
        whole_least: (cells,) the minimum over those of them with whole numbers only; infinite if there are none.
        whole_most: (cells,) the maximum over those; minus infinity if there are none.
        asked: (2, cells) whether the program of the upper bound, and of the lower bound, was solved.
        programs: the number of linear programs solved.
    """

    sums: LinearSystem
    lower: FloatArray
    upper: FloatArray
    least: FloatArray
    most: FloatArray
    whole_least: FloatArray
    whole_most: FloatArray
    asked: BoolArray
    programs: int = 0

    @classmethod
    def over(cls, sums: LinearSystem) -> Self:
        """Start with the bounds implied by single sums."""
        cells = sums.cells.size
        seen = np.full(cells, np.inf)
        asked = np.zeros((2, cells), dtype=bool)
        return cls(sums, np.zeros(cells), sums.upper.copy(), seen, -seen, seen, -seen, asked)

    def open(self) -> int:
        """The number of bounds that may not be the tightest yet."""
        return int(np.count_nonzero(self._loose(1)) + np.count_nonzero(self._loose(-1)))

    def run(self, stop: Callable[[], bool], settled: Callable[[int], None]) -> bool:
        """Solve the programs that are needed; False if `stop` ended the search or a program failed.

        Args:
            stop: called before each program; true if time is up.
            settled: called after each program with the number of bounds that are still open.

        Raises:
            InfeasibleError: no table has these sums.
        """
        simplex = Simplex(self.sums)
        complete = True
        for cells, sign in self._questions():
            if stop():
                return False
            complete = self._ask(simplex, cells, sign) and complete
            settled(self.open())
        return complete

    def _questions(self) -> Iterator[tuple[IntArray, int]]:
        """Yield cells to optimise together, and the sign; their bounds are still open when they are yielded.

        First come sets of cells that may all attain their upper bounds, or all be empty, in one table. Each cell is in
        one such set for each sign. Then come the cells that are still open, one after another.
        """
        for sign in (-1, 1):
            tried = np.zeros(self.sums.cells.size, dtype=bool)
            while (left := np.flatnonzero(self._loose(sign) & ~tried)).size:
                cells = self._compatible(left) if sign < 0 else left
                tried[cells] = True
                yield cells, sign
        for sign in (-1, 1):
            for cell in range(self.sums.cells.size):
                if self._loose(sign)[cell]:
                    yield np.array([cell]), sign

    def _compatible(self, cells: IntArray) -> IntArray:
        """Choose some of these cells, including the first; no sum may be below the total of its cells' upper bounds."""
        room = self.sums.most.copy()
        chosen = [cell for cell in cells.tolist() if self._takes(room, cell)]
        return np.array(chosen or cells[:1])

    def _takes(self, room: FloatArray, cell: int) -> bool:
        """Subtract a cell's upper bound from the slack (sums,) of its sums if it fits; return whether it did."""
        sums = self.sums.of_cell(cell)
        if self.upper[cell] > room[sums].min(initial=np.inf):
            return False
        room[sums] -= self.upper[cell]
        return True

    def _ask(self, simplex: Simplex, cells: IntArray, sign: int) -> bool:
        """Minimise `sign` times the sum of some cells; for a single cell, prove its bound. False on failure."""
        optimum = simplex.least(cells, sign)
        self.programs += 1
        single = cells.size == 1
        self.asked[int(sign > 0), cells] |= single
        if optimum is None:
            return not single
        self.least = np.minimum(self.least, optimum.point)
        self.most = np.maximum(self.most, optimum.point)
        whole = np.rint(optimum.point)
        if self.sums.admits(whole):
            self.whole_least = np.minimum(self.whole_least, whole)
            self.whole_most = np.maximum(self.whole_most, whole)
        return not single or self._prove(int(cells[0]), sign, optimum.multipliers)

    def _prove(self, cell: int, sign: int, multipliers: FloatArray) -> bool:
        """Use the bound that the multipliers prove; False if they prove none."""
        proven = proven_least(self.sums, cell, sign, multipliers)
        if proven is None:
            return False
        if sign > 0:
            self.lower[cell] = max(self.lower[cell], proven)
        else:
            self.upper[cell] = min(self.upper[cell], -proven)
        return True

    def _loose(self, sign: int) -> BoolArray:
        """(cells,) whether the lower (1) or upper (-1) bound was neither computed nor attained by a table so far.

        A cell without an upper limit has no upper bound to search for.
        """
        gap = self.least - self.lower if sign > 0 else self.upper - self.most
        loose: BoolArray = (gap > CLOSE + RELATIVE * self.sums.largest) & ~self.asked[int(sign > 0)]
        return loose if sign > 0 else np.logical_and(loose, np.isfinite(self.upper))
