"""From what is known to bounds: closed forms where there are any, linear programs for what is left."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Self

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.disclosure.closed_form import contradicts, in_groups, proven_table
from aegis_advisor.disclosure.limits import Known, Limits
from aegis_advisor.disclosure.programs import Search
from aegis_advisor.disclosure.simplex import InfeasibleError
from aegis_advisor.disclosure.sums import Sums
from aegis_advisor.reconstruction.decomposition import (
    divide,
    essential,
    restrict,
    split,
    with_runs_joined,
    without_empty_atoms,
)
from aegis_advisor.reconstruction.problem import Problem


@dataclass(slots=True, eq=False)
class Finding:
    """The bounds of a table, while they are being found.

    Attributes:
        lower, upper: (atoms, labels) whole numbers as float64; infinite where nothing is certain.
        searches: for each part that needs linear programs, and the places (cells,) of its cells in the flattened table.
    """

    lower: FloatArray
    upper: FloatArray
    searches: list[tuple[IntArray, Search]] = field(default_factory=list)
    complete: bool = True

    @classmethod
    def of(cls, known: Known) -> Self | None:
        """All that has a closed form, and the parts that have not; None where no table fits."""
        shape = known.exact.prior.size, known.exact.labels
        finding = cls(np.zeros(shape), np.zeros(shape))
        held = without_empty_atoms(known.exact)
        if not held.size:
            return finding
        fits = finding._of_exact(known.exact, held) if _is_exact(known) else finding._of_all(known)
        return finding if fits else None

    @property
    def programs(self) -> int:
        """How many linear programs were solved."""
        return sum(search.programs for _, search in self.searches)

    def search(self, progress: Callable[[int, int], None], stop: Callable[[], bool]) -> bool:
        """Solve the linear programs; False where no table fits."""
        waiting = [search.open() for _, search in self.searches]
        everything = sum(waiting)
        for place, (cells, search) in enumerate(self.searches):
            later = sum(waiting[place + 1 :])
            try:
                done = search.run(stop, partial(_tell, progress, later, everything))
            except InfeasibleError:
                return False
            self.complete = self.complete and done
            self.lower.flat[cells], self.upper.flat[cells] = search.lower, search.upper
        return True

    def _of_exact(self, exact: Problem, held: IntArray) -> bool:
        """What exact margins say, of the atoms (held,) that can hold records."""
        problem = essential(with_runs_joined(restrict(exact, held)))
        alone, parts = split(problem)
        nested = restrict(problem, alone)
        for margin in nested.margins:
            rows = None if nested.rows is None else nested.rows[margin.atoms]
            if rows is not None and contradicts(margin, rows):
                return False
            atoms = held[alone[margin.atoms]]
            self.lower[atoms], self.upper[atoms] = in_groups(margin, rows)
        together = zip(parts, divide(problem, parts), strict=True)
        return all(self._of_part(part, held[atoms]) for atoms, part in together)

    def _of_part(self, part: Problem, atoms: IntArray) -> bool:
        """What is known of a part whose groups overlap."""
        table = proven_table(part)
        if table is None:
            return self._leave(list(map(Limits.of_margin, part.margins)), part.rows, atoms)
        self.lower[atoms] = self.upper[atoms] = table
        return True

    def _of_all(self, known: Known) -> bool:
        """What sums say of which some are not exact."""
        return self._leave(list(known.sums), known.exact.rows, np.arange(known.exact.prior.size))

    def _leave(self, limits: list[Limits], rows: FloatArray | None, atoms: IntArray) -> bool:
        """Leave the cells of these atoms (atoms,) to linear programs; False where no table fits."""
        labels = self.lower.shape[1]
        if not limits and rows is None:
            self.upper[atoms] = np.inf
            return True
        sums = Sums.of(limits, rows, atoms.size, labels)
        if sums is None:
            return False
        places = (atoms[:, np.newaxis] * labels + np.arange(labels)).ravel()
        self.searches += [(places[part.cells], Search.over(part)) for part in sums.parts()]
        return True


def _tell(progress: Callable[[int, int], None], later: int, everything: int, left: int) -> None:
    """Tell how many bounds are settled, where some are left of a part, and others of later ones."""
    progress(everything - later - left, everything)


def _is_exact(known: Known) -> bool:
    """Whether every sum of which anything is known is exact, and there are some."""
    return bool(known.exact.margins) and not known.limits
