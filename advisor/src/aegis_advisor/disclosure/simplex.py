"""The simplex method of HiGHS, which goes on from where the last question left it: only the cell changes."""

from dataclasses import dataclass

import highspy
import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.disclosure.sums import Sums

PRIMAL = 4
DEVEX = 1
"""A table that fits stays one when another cell is asked for: the primal method starts from it, at light prices."""

STEPS = 100_000
"""Simplex steps before a program is given up. A limit on time would not give the same answer twice."""

LARGE = 2.0**20
"""Counts are scaled below this: the solver's tolerances are absolute."""


class InfeasibleError(Exception):
    """No table has these sums."""


@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """The solution of a linear program: a table (cells,), and the multipliers (sums,) that show that none has less."""

    point: FloatArray
    multipliers: FloatArray


class Simplex:
    """Minimises cells of a table with given sums."""

    def __init__(self, sums: Sums) -> None:
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
        """The table with the least of `sign` times the sum of some cells; None if the program was given up.

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


def _model(sums: Sums, unit: float) -> highspy.HighsLp:
    """The sums as HiGHS takes them, with nothing to minimise."""
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
