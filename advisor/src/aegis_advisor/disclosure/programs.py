"""The tightest bounds of cells whose sums are known: linear programs, as few as are needed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from aegis_advisor.arrays import BoolArray, FloatArray, IntArray
from aegis_advisor.disclosure.proof import proven_least
from aegis_advisor.disclosure.simplex import Simplex
from aegis_advisor.disclosure.sums import Sums

CLOSE = 1e-6
RELATIVE = 1e-9
"""As near as a solver's table comes to a bound that it attains: in records, and besides over the largest count."""


@dataclass(slots=True, eq=False)
class Search:
    """The bounds of the cells of a part, while they are being found.

    Attributes:
        sums: of the part.
        lower, upper: (cells,) proven so far.
        least, most: (cells,) the least and the most that a table that fits was seen to have.
        asked: (2, cells) whether the program of the upper, and of the lower bound was solved.
        programs: how many linear programs were solved.
    """

    sums: Sums
    lower: FloatArray
    upper: FloatArray
    least: FloatArray
    most: FloatArray
    asked: BoolArray
    programs: int = 0

    @classmethod
    def over(cls, sums: Sums) -> Self:
        """Nothing is known yet but what each sum says by itself."""
        cells = sums.cells.size
        seen = np.full(cells, np.inf)
        return cls(sums, np.zeros(cells), sums.upper.copy(), seen, -seen, np.zeros((2, cells), dtype=bool))

    def open(self) -> int:
        """How many bounds may not be the tightest yet."""
        return int(np.count_nonzero(self._loose(1)) + np.count_nonzero(self._loose(-1)))

    def run(self, stop: Callable[[], bool], settled: Callable[[int], None]) -> bool:
        """Solve what is needed; False if `stop` ended it, asked before each program, or a program was given up.

        Args:
            stop: whether time is up.
            settled: told after each program how many bounds are still open.

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
        """Cells to ask for together, whose bounds are open when they come up.

        First those that may all have as much as they ever can, or nothing, in one table; each cell is tried so once. Of
        those for which that failed, one after the other.
        """
        for sign in (-1, 1):
            tried = np.zeros(self.sums.cells.size, dtype=bool)
            while (left := np.flatnonzero(self._loose(sign) & ~tried)).size:
                together = self._compatible(left) if sign < 0 else left
                tried[together] = True
                yield together, sign
        for sign in (-1, 1):
            for cell in range(self.sums.cells.size):
                if self._loose(sign)[cell]:
                    yield np.array([cell]), sign

    def _compatible(self, cells: IntArray) -> IntArray:
        """Some of these cells, the first among them, that no sum keeps from having their upper bounds together."""
        room = self.sums.most.copy()
        chosen = [cell for cell in cells.tolist() if self._takes(room, cell)]
        return np.array(chosen or cells[:1])

    def _takes(self, room: FloatArray, cell: int) -> bool:
        """Whether the room (sums,) has place for the most of a cell, which is then taken."""
        sums = self.sums.of_cell(cell)
        if self.upper[cell] > room[sums].min(initial=np.inf):
            return False
        room[sums] -= self.upper[cell]
        return True

    def _ask(self, simplex: Simplex, cells: IntArray, sign: int) -> bool:
        """Minimise `sign` times the sum of some cells; of a single one, the bound is proven. False if given up."""
        found = simplex.least(cells, sign)
        self.programs += 1
        single = cells.size == 1
        self.asked[int(sign > 0), cells] |= single
        if found is None:
            return not single
        self.least = np.minimum(self.least, found.point)
        self.most = np.maximum(self.most, found.point)
        return not single or self._prove(int(cells[0]), sign, found.multipliers)

    def _prove(self, cell: int, sign: int, multipliers: FloatArray) -> bool:
        """Take the bound that the multipliers prove; False if they prove none."""
        proven = proven_least(self.sums, cell, sign, multipliers)
        if proven is None:
            return False
        if sign > 0:
            self.lower[cell] = max(self.lower[cell], proven)
        else:
            self.upper[cell] = min(self.upper[cell], -proven)
        return True

    def _loose(self, sign: int) -> BoolArray:
        """(cells,) whose lower (1) or upper (-1) bound was neither asked for nor seen to be attained.

        A cell that no sum limits from above can have any number of records.
        """
        gap = self.least - self.lower if sign > 0 else self.upper - self.most
        loose: BoolArray = (gap > CLOSE + RELATIVE * self.sums.largest) & ~self.asked[int(sign > 0)]
        return loose if sign > 0 else np.logical_and(loose, np.isfinite(self.upper))
