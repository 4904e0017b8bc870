"""The tightest bounds of cells whose sums are known: linear programs, as few as are needed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from aegis_advisor.arrays import BoolArray, FloatArray
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
    """

    sums: Sums
    lower: FloatArray
    upper: FloatArray
    least: FloatArray
    most: FloatArray
    asked: BoolArray

    @classmethod
    def over(cls, sums: Sums) -> Self:
        """Nothing is known yet but what each sum says by itself."""
        cells = sums.cells.size
        seen = np.full(cells, np.inf)
        return cls(sums, np.zeros(cells), sums.upper.copy(), seen, -seen, np.zeros((2, cells), dtype=bool))

    @property
    def programs(self) -> int:
        """How many linear programs were solved."""
        return int(np.count_nonzero(self.asked))

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
        for cell, sign in self._questions():
            if stop():
                return False
            complete = self._ask(simplex, cell, sign) and complete
            settled(self.open())
        return complete

    def _questions(self) -> Iterator[tuple[int, int]]:
        """Cells whose bound is open when they come up: first the most of each, which leaves others with nothing."""
        for sign in (-1, 1):
            for cell in range(self.sums.cells.size):
                if self._loose(sign)[cell]:
                    yield cell, sign

    def _ask(self, simplex: Simplex, cell: int, sign: int) -> bool:
        """Minimise `sign` times a cell."""
        found = simplex.least(cell, sign)
        self.asked[int(sign > 0), cell] = True
        if found is None:
            return False
        point, multipliers = found
        self.least = np.minimum(self.least, point)
        self.most = np.maximum(self.most, point)
        proven = proven_least(self.sums, cell, sign, multipliers)
        if proven is not None and sign > 0:
            self.lower[cell] = max(self.lower[cell], proven)
        elif proven is not None:
            self.upper[cell] = min(self.upper[cell], -proven)
        return True

    def _loose(self, sign: int) -> BoolArray:
        """(cells,) whose lower (1) or upper (-1) bound was neither asked for nor seen to be attained."""
        gap = self.least - self.lower if sign > 0 else self.upper - self.most
        loose: BoolArray = (gap > CLOSE + RELATIVE * self.sums.largest) & ~self.asked[int(sign > 0)]
        return loose
