"""Tables of real numbers in a box, or proofs that the box is empty, by one linear program that is updated for each
box.
"""

import highspy
import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.cell_bounds.linear_system import LinearSystem
from aegis_advisor.cell_bounds.proofs import proves_empty

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
